"""Tests of the TLS certificate: checked before use, reloaded after a renewal."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from samedeal_server.config.config import Config
from samedeal_server.errors import StartupError
from samedeal_server.process.reload import reload_on_request
from samedeal_server.process.tls import Certificate, load_certificate
from samedeal_server.telemetry.metrics import Metrics
from tests.golden.golden_files import assert_sentences
from tests.server.certificates import Keys
from tests.server.local_server import local_server
from tests.server.waiting import until

END = "samedeal_tls_certificate_expiry_timestamp_seconds"


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


def encrypt(key: Path) -> None:
    private = load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"sesam")))


def swap(keys: Keys) -> None:
    cert, key = keys.cert.read_bytes(), keys.key.read_bytes()
    keys.cert.write_bytes(key)
    keys.key.write_bytes(cert)


def put_directory(keys: Keys) -> None:
    keys.key.unlink()
    keys.key.mkdir()


def mix(keys: Keys) -> None:
    cert = keys.cert.read_bytes()
    keys.renew()
    keys.cert.write_bytes(cert)


DAMAGE: dict[str, Callable[[Keys], object]] = {
    "no certificate": lambda keys: keys.cert.unlink(),
    "no key": lambda keys: keys.key.unlink(),
    "directory": put_directory,
    "not PEM": lambda keys: keys.cert.write_text("not PEM"),
    "empty key": lambda keys: keys.key.write_text(""),
    "swapped": swap,
    "other key": mix,
    "encrypted": lambda keys: encrypt(keys.key),
    "expired": lambda keys: keys.renew(datetime(2020, 1, 1, tzinfo=UTC)),
}


def test_sentences_of_invalid_certificates(tmp_path: Path) -> None:
    lines = []
    for kind, damage in DAMAGE.items():
        directory = tmp_path / kind.replace(" ", "-")
        directory.mkdir()
        keys = Keys(directory)
        damage(keys)
        with pytest.raises(StartupError) as caught:
            load_certificate(keys.cert, keys.key)
        if kind != "expired":
            with pytest.raises(StartupError):
                Certificate(keys.cert, keys.key, Metrics())
        sentence = str(caught.value).replace(f"{directory}/", "")
        lines.append(f"{kind}\t" + re.sub(r"PEM format \(.*\)\.", "PEM format (REASON OF OPENSSL).", sentence))
    assert_sentences("certificates", lines)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])  # only a name is sent in the handshake
async def test_clients_get_the_newest_valid_certificate(keys: Keys, host: str) -> None:
    certificate = Certificate(keys.cert, keys.key, Metrics())

    async def serial_number() -> object:
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=keys.trusting(), server_hostname=host)
        peer = writer.get_extra_info("ssl_object").getpeercert()
        writer.transport.abort()
        return peer["serialNumber"]

    async with local_server(lambda reader, _: reader.read(), certificate.context) as port:
        first = await serial_number()
        keys.renew()
        assert await serial_number() == first
        certificate.reload()
        second = await serial_number()
        assert second != first
        for kind in ("other key", "not PEM", "no key"):
            DAMAGE[kind](keys)
            certificate.reload()
            assert await serial_number() == second


async def test_expired_certificate_is_used_until_it_is_renewed(keys: Keys) -> None:
    """Clients reject it, but the node is there, and says so."""
    DAMAGE["expired"](keys)
    metrics = Metrics()
    with structlog.testing.capture_logs() as events:
        certificate = Certificate(keys.cert, keys.key, metrics)
        watching = asyncio.create_task(certificate.watch(poll_interval=0.01))
        await until(lambda: events)
        assert [(event["event"], event["log_level"]) for event in events] == [("certificate_expired", "error")]
        assert metrics.registry.get_sample_value(END) == datetime(2020, 1, 1, tzinfo=UTC).timestamp()

        async def connect() -> None:
            _, writer = await asyncio.open_connection("localhost", port, ssl=keys.trusting())
            writer.transport.abort()

        async with local_server(lambda reader, _: reader.read(), certificate.context) as port:
            with pytest.raises(ssl.SSLCertVerificationError):
                await connect()
            keys.renew()
            await until(lambda: events[-1]["event"] == "certificate_loaded")
            await connect()
        watching.cancel()


async def test_rejected_certificate_is_a_failed_reload(keys: Keys) -> None:
    metrics, requested = Metrics(), asyncio.Event()
    certificate = Certificate(keys.cert, keys.key, metrics)

    def counted(result: str) -> float | None:
        return metrics.registry.get_sample_value("samedeal_reloads_total", {"result": result})

    reloading = asyncio.create_task(
        reload_on_request(requested, Config(), Config, lambda _: certificate.reload(), metrics)
    )
    requested.set()
    await until(lambda: counted("done") == 1)
    DAMAGE["expired"](keys)
    requested.set()
    await until(lambda: counted("failed") == 1)
    assert counted("done") == 1
    reloading.cancel()


async def test_changed_files_are_reloaded(keys: Keys) -> None:
    metrics = Metrics()
    certificate = Certificate(keys.cert, keys.key, metrics)
    watching = asyncio.create_task(certificate.watch(poll_interval=0.02))

    async def until_expiry_is(expiry: datetime) -> None:
        await until(lambda: metrics.registry.get_sample_value(END) == expiry.timestamp())

    expiries = [datetime.now(UTC).replace(microsecond=0) + timedelta(days=days) for days in (30, 60)]
    for expiry in expiries:
        keys.renew(expiry)
        await until_expiry_is(expiry)
    # With certbot the files are links, which point to other files after a renewal.
    (renewed := keys.cert.parent / "renewed").mkdir()
    other = Keys(renewed)
    other.renew(expiries[0])
    for path, target in ((keys.cert, other.cert), (keys.key, other.key)):
        path.unlink()
        path.symlink_to(target)
    await until_expiry_is(expiries[0])
    watching.cancel()


async def test_expiry_soon_is_logged_once_a_day(keys: Keys) -> None:
    keys.renew(datetime.now(UTC) + timedelta(days=3))
    with structlog.testing.capture_logs() as events:
        watching = asyncio.create_task(Certificate(keys.cert, keys.key, Metrics()).watch(poll_interval=0.01))
        await until(lambda: events)
        await asyncio.sleep(0.1)
        watching.cancel()
    assert [event["event"] for event in events] == ["certificate_expires_soon"]


def test_old_tls_versions_are_disabled(keys: Keys) -> None:
    context = Certificate(keys.cert, keys.key, Metrics()).context
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2

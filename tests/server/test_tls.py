"""The certificate that a node shows: judged before it is used, taken anew when it was renewed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog
from cryptography.hazmat.primitives import serialization

from samedeal_server import tls
from samedeal_server.errors import StartupError
from samedeal_server.metrics import Metrics
from samedeal_server.tls import BadCertificate, Certificate, loaded
from tests.server.certificates import Keys
from tests.server.client import DEADLINE

uvloop = pytest.importorskip("uvloop")

END = "samedeal_tls_certificate_end_timestamp_seconds"


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


def encrypt(key: Path) -> None:
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"sesam"),
        )
    )


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


BROKEN: dict[str, tuple[Callable[[Keys], object], str]] = {
    "no file": (lambda keys: keys.cert.unlink(), r"cert\.pem can't be read \(No such file"),
    "no key": (lambda keys: keys.key.unlink(), r"key\.pem can't be read \(No such file"),
    "a directory": (put_directory, r"key\.pem can't be read \(Is a directory"),
    "rubbish": (lambda keys: keys.cert.write_text("rubbish"), "are not a certificate and a private key in PEM"),
    "an empty key": (lambda keys: keys.key.write_text(""), "are not a certificate and a private key in PEM"),
    "swapped": (swap, "are not a certificate and a private key in PEM"),
    "another's key": (mix, r"The key in .*key\.pem is not that of the certificate in .*cert\.pem"),
    "encrypted": (lambda keys: encrypt(keys.key), r"The key in .*key\.pem is encrypted"),
    "expired": (lambda keys: keys.renew(datetime(2020, 1, 1, tzinfo=UTC)), "will not do: certificate has expired"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_will_not_do_is_said(keys: Keys, kind: str) -> None:
    damage, words = BROKEN[kind]
    damage(keys)
    with pytest.raises(BadCertificate, match=words):
        loaded(keys.cert, keys.key)
    with pytest.raises(StartupError, match=words) as failed:
        Certificate(keys.cert, keys.key, Metrics())
    assert failed.value.code == "bad_certificate"


# A name is told in the handshake, an address is not.
@pytest.mark.parametrize(
    ("loop", "host"),
    [
        (asyncio.new_event_loop, "localhost"),
        (asyncio.new_event_loop, "127.0.0.1"),
        (uvloop.new_event_loop, "127.0.0.1"),
    ],
    ids=["asyncio, a name", "asyncio, an address", "uvloop, an address"],
)
def test_who_connects_is_shown_the_newest_good_one(
    keys: Keys, host: str, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def go() -> None:
        certificate = Certificate(keys.cert, keys.key, Metrics())
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=certificate.context)
        port = server.sockets[0].getsockname()[1]

        async def shown() -> object:
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=keys.trusting(), server_hostname=host)
            told = writer.get_extra_info("ssl_object").getpeercert()
            writer.transport.abort()
            return told["serialNumber"]

        try:
            first = await shown()
            keys.renew()
            assert await shown() == first
            certificate.renew()
            second = await shown()
            assert second != first
            for kind in ("another's key", "rubbish", "no key"):
                damage, _ = BROKEN[kind]
                damage(keys)
                certificate.renew()
                assert await shown() == second
        finally:
            server.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(go())


async def test_files_that_change_are_taken_without_being_told(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "LOOK_EVERY", 0.02)
    metrics = Metrics()
    certificate = Certificate(keys.cert, keys.key, metrics)
    watching = asyncio.create_task(certificate.watch())

    async def becomes(ends: datetime) -> None:
        async with asyncio.timeout(DEADLINE):
            while metrics.registry.get_sample_value(END) != ends.timestamp():  # noqa: ASYNC110  # a count sets no event
                await asyncio.sleep(0.01)

    ends = [datetime.now(UTC).replace(microsecond=0) + timedelta(days=days) for days in (30, 60)]
    for end in ends:
        keys.renew(end)
        await becomes(end)
    # As certbot does: the files are links, and lead elsewhere after a renewal.
    (renewed := keys.cert.parent / "renewed").mkdir()
    other = Keys(renewed)
    other.renew(ends[0])
    for path, target in ((keys.cert, other.cert), (keys.key, other.key)):
        path.unlink()
        path.symlink_to(target)
    await becomes(ends[0])
    watching.cancel()


async def test_a_certificate_that_ends_soon_is_told_once_a_day(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "LOOK_EVERY", 0.01)
    keys.renew(datetime.now(UTC) + timedelta(days=3))
    with structlog.testing.capture_logs() as events:
        watching = asyncio.create_task(Certificate(keys.cert, keys.key, Metrics()).watch())
        async with asyncio.timeout(DEADLINE):
            while not events:  # noqa: ASYNC110  # a log sets no event
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        watching.cancel()
    assert [event["event"] for event in events] == ["certificate_ends"]


def test_old_tls_is_not_spoken(keys: Keys) -> None:
    context = Certificate(keys.cert, keys.key, Metrics()).context
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2

"""The certificate that a node shows, taken anew when it was renewed."""

from __future__ import annotations

import asyncio
import ssl
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from samedeal_server.errors import StartupError
from samedeal_server.metrics import Metrics

LOOK_EVERY: Final = 60.0
"""Seconds between two looks at the files."""

ENDS_SOON: Final = 7 * 86_400
"""Seconds before its end from which on a certificate is worth a warning, once a day."""

_DAY: Final = 86_400
_PASSES: Final = 6

_log: structlog.stdlib.BoundLogger = structlog.get_logger("tls")


class BadCertificate(Exception):
    """A certificate or its key can't be used; ``str()`` of it says why."""


class Certificate:
    """A certificate and its key, in files that somebody renews. Raises StartupError ``bad_certificate``.

    Those who connect are shown the newest that was good: a renewal that can't be used changes nothing, and is logged.
    """

    def __init__(self, cert: Path, key: Path, metrics: Metrics) -> None:
        self._cert = cert
        self._key = key
        self._metrics = metrics
        self._seen = self._look()
        self._warned = 0.0
        try:
            self._newest, self._ends = loaded(cert, key)
        except BadCertificate as error:
            raise StartupError("bad_certificate", str(error)) from None
        metrics.certificate_ends.set(self._ends)
        # A context can't be changed safely in two steps, certificate and key: each handshake is given a whole one.
        self.context = loaded(cert, key)[0]
        self.context.sni_callback = self._show

    def _show(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._newest

    def renew(self) -> None:
        """Take the files anew, and keep what there is where they will not do."""
        self._seen = self._look()
        try:
            self._newest, self._ends = loaded(self._cert, self._key)
        except BadCertificate as error:
            _log.error("certificate_refused", error=str(error), kept_until=_written(self._ends))
        else:
            self._metrics.certificate_ends.set(self._ends)
            _log.info("certificate_taken", ends=_written(self._ends))

    async def watch(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if self._look() != self._seen:
                self.renew()
            now = time.time()
            if self._ends - now < ENDS_SOON and now - self._warned > _DAY:
                self._warned = now
                _log.warning("certificate_ends", ends=_written(self._ends), file=str(self._cert))

    def _look(self) -> tuple[tuple[int, ...], ...]:
        """What tells that a file is another one now, also where a link leads elsewhere."""
        found = []
        for path in (self._cert, self._key):
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(found)


def loaded(cert: Path, key: Path) -> tuple[ssl.SSLContext, float]:
    """What to speak TLS with, and when it ends in seconds since 1970. Raises BadCertificate."""
    for path in (cert, key):
        try:
            path.read_bytes()
        except OSError as error:
            raise BadCertificate(f"{path} can't be read ({error.strerror}): name another file, or let us") from None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # Some systems leave this to a configuration of their own.
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(cert, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        raise BadCertificate(_why(cert, key, error)) from None
    try:
        shown = _shake_hands(context, cert)
    except ssl.SSLCertVerificationError as error:
        raise BadCertificate(f"The certificate in {cert} will not do: {error.verify_message}; renew it") from None
    except ssl.SSLError as error:
        raise BadCertificate(f"No connection can be made with the certificate in {cert}: {error.reason}") from None
    return context, ssl.cert_time_to_seconds(shown)


def _shake_hands(context: ssl.SSLContext, cert: Path) -> str:
    """Connect to oneself in memory, trusting this very certificate: the judge is OpenSSL. Returns when it ends."""
    judge = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    judge.check_hostname = False
    judge.load_verify_locations(cert)
    judge.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(there, back, server_side=True)
    client = judge.wrap_bio(back, there)
    for _ in range(_PASSES):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return str((client.getpeercert() or {})["notAfter"])


def _why(cert: Path, key: Path, error: ssl.SSLError | ValueError) -> str:
    reason = getattr(error, "reason", None) or str(error)
    if reason == "KEY_VALUES_MISMATCH":
        return f"The key in {key} is not that of the certificate in {cert}: name the two that belong together"
    if "-----BEGIN ENCRYPTED" in key.read_text("ascii", "replace") or "Proc-Type: 4,ENCRYPTED" in key.read_text(
        "ascii", "replace"
    ):
        return f"The key in {key} is encrypted, and nobody is there to type its passphrase: name one that is not"
    return f"{cert} and {key} are not a certificate and a private key in PEM ({reason}): name the two files"


def _written(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

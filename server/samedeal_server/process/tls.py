"""The TLS certificate of a node, which is reloaded when its files change."""

from __future__ import annotations

import asyncio
import ssl
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from samedeal.utc_text import utc_text
from samedeal_server.errors import StartupError
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

POLL_INTERVAL: Final = 60.0
"""Interval, in seconds, at which the certificate's files are checked for changes."""

EXPIRES_SOON: Final = 7 * 86_400
"""Time, in seconds. If a certificate expires within this time, a warning is logged once a day."""

_DAY: Final = 86_400

_HAS_EXPIRED: Final = 10
"""OpenSSL's verify code for a certificate that has expired."""

_NO_CHECK_TIME: Final = ssl.VerifyFlags(0x200000)
"""OpenSSL's flag for a verification that ignores the time. The module ``ssl`` has no name for it."""

_HANDSHAKE_ROUNDS: Final = 6
"""Number of rounds that are enough for any TLS handshake between a client and a server in memory."""

_log = get_logger()


class Certificate:
    """The TLS certificate of a node and its key, in two files.

    Each new connection gets the newest valid certificate. If a renewed certificate is invalid, the node logs this fact
    and keeps the current one. Raise StartupError ``bad_certificate`` if the first certificate is invalid. If it has only
    expired, use it nevertheless: the node is then there when it is renewed.
    """

    def __init__(self, cert: Path, key: Path, metrics: Metrics) -> None:
        self._cert = cert
        self._key = key
        self._metrics = metrics
        self._fingerprint = self._read_fingerprint()
        self._warned_at = 0.0
        self._current, self._expires_at = load_certificate(cert, key, even_expired=True)
        metrics.tls_certificate_expiry_timestamp_seconds.set(self._expires_at)
        # A context's certificate and key cannot be replaced in one step, so each handshake switches to a complete context.
        self.context = load_certificate(cert, key, even_expired=True)[0]
        self.context.sni_callback = self._use_current

    def _use_current(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        connection.context = self._current

    def reload(self) -> bool:
        """Load the files again. If the new certificate is invalid, keep the current certificate and return False.

        That is logged as an error, and counts as a failed reload.
        """
        self._fingerprint = self._read_fingerprint()
        try:
            self._current, self._expires_at = load_certificate(self._cert, self._key)
        except StartupError as error:
            self._metrics.reloads["failed"].inc()
            _log.error("certificate_rejected", error=str(error), current_expires=utc_text(int(1000 * self._expires_at)))
            return False
        self._metrics.tls_certificate_expiry_timestamp_seconds.set(self._expires_at)
        _log.info("certificate_loaded", expires=utc_text(int(1000 * self._expires_at)))
        return True

    async def watch(self, poll_interval: float = POLL_INTERVAL) -> None:
        """Reload the certificate whenever its files change. Log once a day that it expires soon or has expired."""
        while True:
            now = time.time()
            if self._expires_at - now < EXPIRES_SOON and now - self._warned_at > _DAY:
                self._warned_at = now
                facts = {"expires": utc_text(int(1000 * self._expires_at)), "file": str(self._cert)}
                if self._expires_at > now:
                    _log.warning("certificate_expires_soon", **facts)
                else:
                    _log.error("certificate_expired", **facts)
            await asyncio.sleep(poll_interval)
            if self._read_fingerprint() != self._fingerprint:
                self.reload()

    def _read_fingerprint(self) -> tuple[tuple[int, ...], ...]:
        """Return a value that changes when one of the two files changes, or when a link leads to another file."""
        fingerprint = []
        for path in (self._cert, self._key):
            with suppress(OSError):
                stat = path.stat()
                fingerprint.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(fingerprint)


def load_certificate(cert: Path, key: Path, *, even_expired: bool = False) -> tuple[ssl.SSLContext, float]:
    """Return the TLS context of a server, and when its certificate expires, in seconds since 1970.

    Raise StartupError ``bad_certificate`` if the certificate or the key cannot be used. That also holds for a certificate
    that has expired, unless ``even_expired`` is true.
    """
    for path in (cert, key):
        try:
            path.read_bytes()
        except OSError as error:
            raise StartupError("unreadable_certificate", path=path, reason=error.strerror) from None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # Some systems set another minimum in their OpenSSL configuration.
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(cert, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        raise _explained(cert, key, error) from None
    try:
        expiry = _try_handshake(context, cert)
    except ssl.SSLCertVerificationError as error:
        if even_expired and error.verify_code == _HAS_EXPIRED:
            return context, ssl.cert_time_to_seconds(_try_handshake(context, cert, _NO_CHECK_TIME))
        raise StartupError("invalid_certificate", cert=cert, reason=error.verify_message) from None
    except ssl.SSLError as error:
        raise StartupError("bad_certificate", cert=cert, reason=error.reason) from None
    return context, ssl.cert_time_to_seconds(expiry)


def _try_handshake(context: ssl.SSLContext, cert: Path, flags: ssl.VerifyFlags = ssl.VerifyFlags.VERIFY_DEFAULT) -> str:
    """Check a certificate by a TLS handshake in memory. Return when the certificate expires, as text.

    The client in this handshake trusts only this certificate, and verifies it with more ``flags``.
    """
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.load_verify_locations(cert)
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | flags
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(to_server, to_client, server_side=True)
    client = client_context.wrap_bio(to_client, to_server)
    for _ in range(_HANDSHAKE_ROUNDS):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return str((client.getpeercert() or {})["notAfter"])


def _explained(cert: Path, key: Path, error: ssl.SSLError | ValueError) -> StartupError:
    reason = getattr(error, "reason", None) or str(error)
    if reason == "KEY_VALUES_MISMATCH":
        return StartupError("key_of_another_certificate", cert=cert, key=key)
    text = key.read_text("ascii", "replace")
    if "-----BEGIN ENCRYPTED" in text or "Proc-Type: 4,ENCRYPTED" in text:
        return StartupError("encrypted_key", key=key)
    return StartupError("no_certificate", cert=cert, key=key, reason=reason)

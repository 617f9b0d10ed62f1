"""A private certificate authority for tests."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import trustme


class Keys:
    """A certificate authority, and a certificate of it with its key in two files."""

    def __init__(self, directory: Path) -> None:
        self.authority = trustme.CA()
        self.cert, self.key, self.root = (directory / name for name in ("cert.pem", "key.pem", "root.pem"))
        self.authority.cert_pem.write_to_path(self.root)
        self.renew()

    def renew(self, until: datetime = datetime(2999, 12, 31, tzinfo=UTC)) -> None:
        """Replace the certificate and the key with new ones."""
        issued = self.authority.issue_cert("localhost", "127.0.0.1", not_after=until)
        self.cert.write_bytes(b"".join(each.bytes() for each in issued.cert_chain_pems))
        self.key.write_bytes(issued.private_key_pem.bytes())

    @property
    def options(self) -> tuple[str, ...]:
        """The flags of a server that uses them."""
        return ("--tls-cert", str(self.cert), "--tls-key", str(self.key))

    def trusting(self) -> ssl.SSLContext:
        """Return a context for clients that trust the authority."""
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context

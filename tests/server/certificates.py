"""A private authority for tests, and certificates of it in files."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import trustme


class Keys:
    """An authority, and a certificate of it with its key in two files, which can be renewed."""

    def __init__(self, directory: Path) -> None:
        self.authority = trustme.CA()
        self.cert, self.key, self.root = (directory / name for name in ("cert.pem", "key.pem", "root.pem"))
        self.authority.cert_pem.write_to_path(self.root)
        self.renew()

    def renew(self, until: datetime = datetime(2999, 12, 31, tzinfo=UTC)) -> None:
        """Put another certificate with another key in the place of these."""
        issued = self.authority.issue_cert("localhost", "127.0.0.1", not_after=until)
        self.cert.write_bytes(b"".join(each.bytes() for each in issued.cert_chain_pems))
        self.key.write_bytes(issued.private_key_pem.bytes())

    @property
    def options(self) -> tuple[str, ...]:
        """What a server is told of them."""
        return ("--tls-cert", str(self.cert), "--tls-key", str(self.key))

    def trusting(self) -> ssl.SSLContext:
        """What a client goes by that trusts the authority."""
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context

"""The versions of this copy of Samedeal as text."""

from __future__ import annotations

import samedeal
from samedeal.protocol.messages import SUBPROTOCOL


def versions() -> str:
    """Return the versions of the program, the protocol and the rules in one line, as ``--version`` prints them."""
    return f"samedeal {samedeal.__version__} (protocol {SUBPROTOCOL}, rules {samedeal.ENGINE})"

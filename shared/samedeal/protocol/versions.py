"""What this copy of Samedeal is and speaks, in words."""

from __future__ import annotations

import samedeal
from samedeal.protocol.messages import SUBPROTOCOL


def versions() -> str:
    """The version of the program, of the protocol and of the rules."""
    return f"samedeal {samedeal.__version__} (protocol {SUBPROTOCOL}, rules {samedeal.ENGINE})"

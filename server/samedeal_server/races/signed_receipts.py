"""Receipts of acked moves. With them a client can prove moves that the store has lost. Pure.

A chain is a hash of all actions of a player with their times. A receipt is a MAC of a chain under a key that all nodes
share.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from samedeal.protocol.codec import pack
from samedeal.protocol.messages import Held

START: Final = bytes(32)
"""The chain before the first action."""

KEY_BYTES: Final = 32
_LENGTH: Final = 16


def follow(chain: bytes, action: str, at: int) -> bytes:
    """Return the chain after one more action, committed at ``at`` in milliseconds."""
    return hashlib.sha256(chain + pack((action, at))).digest()


def follow_all(chain: bytes, held: Iterable[Held]) -> bytes:
    """Return the chain after the actions ``held``."""
    for action in held:
        chain = follow(chain, action.action, action.at)
    return chain


def receipt(key: bytes, room: tuple[str, int], player: str, revision: int, chain: bytes) -> bytes:
    """Make the receipt for a player's actions up to ``revision``. ``room`` is the room's code and creation time."""
    return hmac.digest(key, pack((*room, player, revision, chain)), "sha256")[:_LENGTH]

"""Receipts: by which a node knows that an action which a client holds was acked, though the store has lost it.

A chain is made of all actions of a player with their times; the receipt is a MAC of it, under a key that all nodes share.
Pure.
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
    """The chain after one more action, which was committed at a time in milliseconds."""
    return hashlib.sha256(chain + pack((action, at))).digest()


def follow_all(chain: bytes, held: Iterable[Held]) -> bytes:
    """The chain after more actions."""
    for each in held:
        chain = follow(chain, each.action, each.at)
    return chain


def receipt(key: bytes, room: tuple[str, int], player: str, revision: int, chain: bytes) -> bytes:
    """The receipt for a player's actions up to a revision; ``room`` is its code, and when it was opened."""
    return hmac.digest(key, pack((*room, player, revision, chain)), "sha256")[:_LENGTH]

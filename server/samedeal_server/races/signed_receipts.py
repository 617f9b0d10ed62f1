"""Receipts of acknowledged moves. With a receipt, a client can prove moves that Redis has lost. Pure.

A receipt is a MAC of the head of the player's chain, under a key that all nodes share. The head covers the race, the
player, and all actions with their times.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

KEY_BYTES: Final = 32
_LENGTH: Final = 16
_LABEL: Final = b"samedeal receipt"


def receipt(key: bytes, head: bytes) -> bytes:
    """Return the receipt for the action whose head is ``head``, and for all of the player's actions before it."""
    return blake2b(head, digest_size=_LENGTH, key=key, person=_LABEL).digest()

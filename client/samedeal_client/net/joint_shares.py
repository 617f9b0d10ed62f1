"""The player's shares of joint deals: which commitment a ``Join`` carries, and which share to reveal next. Pure.

Every ``Join`` carries the commitment to a new share. The server uses the newest one that it got before the countdown.
The room's state shows which one that is, so a client keeps the last few. DEALS.md, *Version 2*, explains the chain of
shares.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from samedeal.joint_deal import SHARE_BYTES, share_commitment
from samedeal.protocol.messages import RoomState

CHAIN_LENGTH: Final = 64
"""Maximum number of shares that a player reveals. A deal is drawn again only if a player leaves its room."""

_KEPT: Final = 8
"""Number of newest shares that are kept. The server may not have got the newest ``Join``, and then uses an older share."""


def share_chain(room: str, name: str, last: bytes) -> tuple[bytes, ...]:
    """Return a chain of values that ends with the share ``last``. Each value is the commitment to the next one.

    The first value is the commitment for a ``Join``. The others are the shares, in the order in which they are
    revealed.
    """
    chain = [last]
    for _ in range(CHAIN_LENGTH):
        chain.append(share_commitment(room, name, chain[-1]))
    return tuple(reversed(chain))


class JointShares:
    """The shares of one player.

    ``revealed`` holds those that were revealed. ``kept`` is the last share of a chain that an earlier process of the player
    used, if any.
    """

    def __init__(self, kept: bytes = b"") -> None:
        self.revealed: frozenset[bytes] = frozenset()
        self._drawn = deque([kept] if len(kept) == SHARE_BYTES else [], _KEPT)
        self._last = b""

    def commit(self, room: str, name: str, last: bytes) -> bytes:
        """Return the commitment for a ``Join``. ``last`` is a new random value, the last share of the chain."""
        self._drawn.append(last)
        return share_chain(room, name, last)[0]

    def connected(self) -> None:
        """Note that there is a new connection, on which the share has to be revealed again."""
        self._last = b""

    def in_use(self, state: RoomState, player: str) -> bytes:
        """Return the last share of the chain that the player's seat is committed to, or an empty value."""
        return self._find(state, player)[0]

    def to_reveal(self, state: RoomState, player: str) -> bytes:
        """Return the share that the player has to reveal now, or an empty value. The same share is returned once only."""
        share = self._find(state, player)[1] if state.phase == "countdown" else b""
        if share in (b"", self._last):
            return b""
        self._last = share
        self.revealed |= {share}
        return share

    def _find(self, state: RoomState, player: str) -> tuple[bytes, bytes]:
        seat = next((seat for seat in state.players if seat.player == player), None)
        if seat is None or not seat.share_commitment:
            return b"", b""
        for last in reversed(self._drawn):
            chain = share_chain(state.room, seat.name, last)
            if seat.share_commitment in chain[:-1]:
                return last, chain[chain.index(seat.share_commitment) + 1]
        return b"", b""

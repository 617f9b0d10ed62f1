"""The player's shares of joint deals, and the commitments to them. Pure.

Every ``Join`` carries the commitment to a new share. The server uses the newest commitment that it received before the
countdown, and shows this commitment in the room's state. The client also keeps a few older shares, because its newest
``Join`` may not have reached the server. DEALS.md, *Version 2*, explains the chain of shares.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from samedeal.joint_deal import SHARE_BYTES, share_commitment
from samedeal.protocol.messages import RoomState

CHAIN_LENGTH: Final = 64
"""Maximum number of shares that a player reveals in a room. Another share is needed only if the deal is drawn again."""

_KEPT: Final = 8
"""Number of newest chains that are kept. If the newest ``Join`` did not reach the server, an older chain is used."""


def share_chain(room: str, name: str, last: bytes) -> tuple[bytes, ...]:
    """Return a chain of values that ends with the share ``last``. Each value is the commitment to the next value.

    The first value is the commitment for a ``Join``. The other values are shares. Each new draw of the deal reveals the
    next share.
    """
    chain = [last]
    for _ in range(CHAIN_LENGTH):
        chain.append(share_commitment(room, name, chain[-1]))
    return tuple(reversed(chain))


class JointShares:
    """The shares of one player.

    ``revealed`` has the shares that were revealed. ``kept`` is the last share of the chain of shares that the player's
    client used before it was restarted, or empty.
    """

    def __init__(self, kept: bytes = b"") -> None:
        self.revealed: frozenset[bytes] = frozenset()
        self._drawn = deque([kept] if len(kept) == SHARE_BYTES else [], _KEPT)
        self._last = b""

    def commit(self, room: str, name: str, last: bytes) -> bytes:
        """Return the commitment for a new ``Join``. The player's shares are computed from ``last``, a new random value."""
        self._drawn.append(last)
        return share_chain(room, name, last)[0]

    def connected(self) -> None:
        """Record that there is a new connection. The player's share must be revealed again on the new connection."""
        self._last = b""

    def in_use(self, state: RoomState, player: str) -> bytes:
        """Return the last share of the chain of shares to which the player's seat is committed.

        Return an empty value if the player has no seat, if the seat has no commitment, or if this client does not know
        the chain.
        """
        return self._find(state, player)[0]

    def to_reveal(self, state: RoomState, player: str) -> bytes:
        """Return the share that the player has to reveal now, or an empty value.

        A share is returned only once for each connection.
        """
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

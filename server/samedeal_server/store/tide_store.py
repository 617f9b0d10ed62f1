"""The tides in Redis: who is about to take a seat in which room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from samedeal.options import MAX_SEATS, SEATS_OF_ADDRESS
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.scripts import Script

CLAIM: Final = 30_000
"""Time, in milliseconds, for which a seat is kept for a player who was sent to a room and has not joined it yet."""

CLAIMS_LIFETIME: Final = 600
"""Lifetime, in seconds, of all claims of a tide after the last one."""

_CLAIM_SEAT: Final = Script("claim_seat")


class TideStore(StorePart):
    """The tides in Redis."""

    async def claim(self, tide: str, player: str, origin: str, rooms: Sequence[str], most_rooms: int) -> int:
        """Choose a room of a tide for a player who comes, and return its number, or -1 if all rooms are full.

        ``tide`` names the tide, and who may enter its rooms. ``rooms`` says who has a seat in each room, as in
        ``claim_seat.lua``.
        """
        limits = (MAX_SEATS, SEATS_OF_ADDRESS, most_rooms, CLAIM, CLAIMS_LIFETIME)
        claiming = _CLAIM_SEAT([keys.tide_claims(tide)], player, origin, *limits, *rooms)
        (number,) = await self._executor.execute(claiming)
        return int(number)

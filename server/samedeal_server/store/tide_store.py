"""The tides in Redis: which rooms they have, who is about to take a seat, and the results of finished races."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import TideLine
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.scripts import Script

LIFETIME: Final = 30 * 86_400
"""Time, in seconds, for which the results of a tide are kept after the last change."""

CLAIM: Final = 30_000
"""Time, in milliseconds, for which a seat is kept for a player who was sent to a room and has not joined it yet."""

CLAIMS_LIFETIME: Final = 600
"""Lifetime, in seconds, of all claims of a tide after the last one."""
_CLAIM_SEAT: Final = Script("claim_seat")


class TideStore(StorePart):
    """The tides in Redis."""

    async def claim(
        self, tide: str, player: str, origin: str, rooms: Sequence[str], seats: int, most_rooms: int
    ) -> int:
        """Choose a room of a tide for a player who comes, and return its number, or -1 if all rooms are full.

        ``tide`` names the tide, and who may enter its rooms. ``rooms`` says who has a seat in each room, as in
        ``claim_seat.lua``. At most half of the ``seats`` are for players from one origin.
        """
        limits: tuple[int, ...] = (seats, max(1, seats // 2), most_rooms, CLAIM, CLAIMS_LIFETIME)
        claiming = _CLAIM_SEAT([keys.tide_claims(tide)], player, origin, *limits, *rooms)
        (number,) = await self._executor.execute(claiming)
        return int(number)

    async def keep(self, game: str, start: int, room: str, results: Iterable[TideLine]) -> None:
        """Store the results of a race of a tide. Without results, store only that the tide has this room."""
        key, data = keys.tide(game, start), tuple(results)
        await self._executor.execute(
            command("HSET" if data else "HSETNX", key, room, pack(data)),
            command("EXPIRE", key, LIFETIME),
            command("ZADD", keys.TIDES, start, f"{game} {start}"),
            command("ZREMRANGEBYSCORE", keys.TIDES, "-inf", start - 1000 * LIFETIME),
        )

    async def results(self, game: str, start: int) -> dict[str, tuple[TideLine, ...]]:
        """Return the results of each room of a tide. They are empty if the race has not finished."""
        (found,) = await self._executor.execute(command("HGETALL", keys.tide(game, start)))
        return {room.decode(): unpack(data, tuple[TideLine, ...]) for room, data in found.items()}

    async def of_day(self, game: str, day: range) -> list[int]:
        """Return the starts of a game's tides on a day, in order."""
        (found,) = await self._executor.execute(command("ZRANGE", keys.TIDES, day.start, day.stop - 1, "BYSCORE"))
        names = (name.decode().split(" ") for name in found)
        return [int(start) for name, start in names if name == game]

"""The house in Redis: the rooms to which its bots may come, and which program runs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from samedeal.race.values import Race
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.scripts import REPLACE_STRING

HOUSE_LEASE: Final = 5_000
"""Time, in milliseconds, after which another program may run the house if the present one does not ask for rooms."""

AT_HOME: Final = 60_000
"""Time, in milliseconds, for which the house stays at home after a node had too much to do."""

_KEPT: Final = 3_600_000
"""Time, in milliseconds, for which the index has a room, beyond the limit of its race."""


class HouseStore(StorePart):
    """The rooms to which bots of the house may come, which may be gone, and the lease of the house."""

    async def hold(self, house: str) -> bool:
        """Take or renew the lease of the house. Return whether the program ``house`` has it now."""
        for before in (house, ""):
            (held,) = await self._executor.execute(REPLACE_STRING([keys.HOUSE_LEASE], before, house, HOUSE_LEASE))
            if held:
                return True
        return False

    async def is_open(self) -> bool:
        """Return whether some program runs the house."""
        (exists,) = await self._executor.execute(command("EXISTS", keys.HOUSE_LEASE))
        return bool(exists)

    async def send_home(self) -> None:
        """Let the house stay at home for a minute."""
        await self._executor.execute(command("SET", keys.HOUSE_HOME, 1, "PX", AT_HOME))

    async def is_at_home(self) -> bool:
        """Return whether some node had too much to do a short while ago."""
        (exists,) = await self._executor.execute(command("EXISTS", keys.HOUSE_HOME))
        return bool(exists)

    async def add(self, race: Race) -> None:
        """Add the room of a race to the index, and remove those that have been in it for too long."""
        until = max(race.created, race.options.start_at) + 1000 * race.options.limit + _KEPT
        await self._executor.execute(
            command("ZADD", keys.HOUSE, until, race.room),
            command("ZREMRANGEBYSCORE", keys.HOUSE, "-inf", race.created),
        )

    async def rooms(self, limit: int) -> list[str]:
        """Return the codes of at most ``limit`` rooms, the newest ones first."""
        (found,) = await self._executor.execute(command("ZREVRANGE", keys.HOUSE, 0, limit - 1))
        return [room.decode() for room in found]

    async def remove(self, rooms: Iterable[str]) -> None:
        """Remove rooms from the index."""
        if gone := [*rooms]:
            await self._executor.execute(command("ZREM", keys.HOUSE, *gone))

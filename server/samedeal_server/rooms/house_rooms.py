"""The rooms in which declared bots of the server, its house, keep people company."""

from __future__ import annotations

import hmac
import time
from typing import Final

from samedeal.protocol.messages import RoomLine
from samedeal.race.seats import house_seats
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal_server.races.public_facts import room_line
from samedeal_server.store.store import Store

MOST_ROOMS: Final = 8
"""Maximum number of rooms in which the house plays at the same time."""

_READ: Final = 256
"""Maximum number of rooms that are read. So many people race alone only in an attack."""

_EXPECTED: Final = 60_000
"""Time, in milliseconds, for which a new room counts although bots of the house are not there yet."""


STARTING: Final = 10.0
"""Time, in seconds, that the house has to come after a node has started."""


def _has_house(race: Race) -> bool:
    return any(racer.house for racer in race.racers)


class HouseRooms:
    """Tells the house where its bots may come. ``key`` proves a bot to be one of the house; without a key there is none."""

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self.key = key
        self._made_at = time.monotonic()

    def check_key(self, key: str, *, bot: bool) -> None:
        """Raise RequestRefused unless ``key`` is the key of the house, and the player is a declared bot."""
        if not (bot and self.key and hmac.compare_digest(key.encode(), self.key.encode())):
            raise refused("bad_house_key")

    async def waiting(self, house: str) -> tuple[RoomLine, ...]:
        """Return the rooms to which bots of the house may come now, those that have waited longest first.

        ``house`` is the program that asks. Raise RequestRefused if another one runs the house, or if the server has too
        much to do.
        """
        if not await self._store.house.hold(house):
            raise refused("house_elsewhere")
        if await self._store.house.is_at_home():
            raise refused("house_home")
        races, now = await self._races(), await self._store.now()
        waiting = sorted((race for race in races if house_seats(race, now)), key=lambda race: race.created)
        free = max(MOST_ROOMS - sum(map(_has_house, races)), 0)
        later = [race for race in waiting if not _has_house(race)][free:]
        return tuple(room_line(race) for race in waiting if race not in later)

    async def is_there(self) -> bool:
        """Return whether bots of the house can be asked for: somebody runs it, or it has not had the time to come."""
        is_starting = time.monotonic() - self._made_at < STARTING
        return bool(self.key) and (is_starting or await self._store.house.is_open())

    async def check_free(self, origin: str, player: str) -> str:
        """Return the room in which bots race with nobody but ``player``, who asks for others, or an empty text.

        Raise RequestRefused if there is no house, if its bots are busy, or if they play with somebody else of ``origin``.
        """
        if not (self.key and await self._store.house.is_open()):
            raise refused("no_house")
        if await self._store.house.is_at_home():
            raise refused("bots_busy")
        now = await self._store.now()
        races = [race for race in await self._races() if not race.is_race_now]
        rooms = [race for race in races if _has_house(race) or now - race.created < _EXPECTED]
        own = next((race for race in rooms if [each.player for each in race.racers if not each.bot] == [player]), None)
        others = [race for race in rooms if race is not own]
        if len(others) >= MOST_ROOMS:
            raise refused("bots_busy")
        if any(race.origin == origin for race in others):
            raise refused("bots_at_address")
        return own.room if own else ""

    async def _races(self) -> list[Race]:
        """Return the races of the newest rooms to which bots of the house may come or have come."""
        codes = await self._store.house.rooms(_READ)
        races = await self._store.load_races(codes)
        kept = [race for race in races if race is not None and race.phase not in ("finished", "closed")]
        await self._store.house.remove({*codes} - {race.room for race in kept})
        return kept

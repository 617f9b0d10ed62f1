"""The rooms of tides: players who come are sent to them, at most sixteen to a room. Some rooms share one deal."""

from __future__ import annotations

from typing import Final

from samedeal.joint_deal import MAX_ROOMS
from samedeal.options import MAX_PLAYERS, Options
from samedeal.tides import OPEN_FOR, has_tide
from samedeal_server.races import refusals
from samedeal_server.races.race import Race
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.room_creation import RoomCreator

_COUNTDOWN: Final = 10
_MOST_ROOMS: Final = 256
"""Maximum number of rooms of a tide, for people and again for bots."""

_ROOMS_PER_READ: Final = MAX_ROOMS
_FULL_FOR: Final = 1.0
"""Time, in seconds, for which a room that was full is not looked at again."""


class TideRooms:
    """Finds the rooms for players who come to a tide. Declared bots meet in rooms of their own.

    The codes of the rooms follow from the game, the start and their numbers, so that all nodes open the same ones. They
    are keyed: nobody can open such a room before.
    """

    def __init__(self, rooms: RoomRegistry, creator: RoomCreator) -> None:
        self._rooms = rooms
        self._store = rooms.store
        self._creator = creator
        self._full: dict[str, tuple[float, Race]] = {}

    async def find(self, game: str, start: int, player: str, network: str, *, bot: bool) -> str:
        """Return the code of a room of the tide, in which the player has a seat or can take one.

        Raise RequestRefused if there is no such tide, if it is not open for the player yet, or if no room can be opened.
        """
        now = await self._store.now()
        if not has_tide(self._rooms.tides, game, start) or now >= start - 1000 * _COUNTDOWN:
            raise refusals.no_tide()
        past = await self._store.earlier.past(player)
        opens = start - OPEN_FOR + (past.wait if past.tide != start else 0)
        if now < opens:
            raise refusals.tide_not_open(-(-(opens - now) // 1000))
        tide = f"{game} {start} {'bots' if bot else 'people'}"
        room = await self._claim(tide, game, start, player, network, bot=bot)
        await self._store.earlier.set_past(player, past.entering(start))
        return room

    async def _claim(self, tide: str, game: str, start: int, player: str, network: str, *, bot: bool) -> str:
        rooms: list[str] = []
        races: list[Race | None] = []
        while None not in races and len(rooms) < _MOST_ROOMS:
            codes = [self._creator.shared_code(f"tide {tide} {len(rooms) + each}") for each in range(_ROOMS_PER_READ)]
            races = await self._load(codes)
            for code, race in zip(codes, races, strict=True):
                if race is None:
                    break
                if race.racer(player) is not None:
                    return code
                is_open = race.phase == "open" and race.tide == start and player not in race.kicked
                rooms.append(" ".join(f"{each.player} {each.origin}" for each in race.racers) if is_open else "full")
        origin = self._creator.origin(network)
        number = await self._store.tides.claim(tide, player, origin, rooms, MAX_PLAYERS, _MOST_ROOMS)
        if number < 0:
            raise refusals.server_full()
        code = self._creator.shared_code(f"tide {tide} {number}")
        if number >= len(rooms):
            first = number - number % MAX_ROOMS
            group = sorted(self._creator.shared_code(f"tide {tide} {first + each}") for each in range(MAX_ROOMS))
            options = Options.scheduled(game, start, _COUNTDOWN, bots=bot)
            await self._store.tides.keep(game, start, code, ())
            await self._creator.create_shared(options, code, network, start, tuple(group))
        return code

    async def _load(self, codes: list[str]) -> list[Race | None]:
        """Load the races of rooms. Of those that have just been full, return what was known."""
        now = self._rooms.timers.monotonic()
        self._full = {
            code: (read_at, race) for code, (read_at, race) in self._full.items() if now < read_at + _FULL_FOR
        }
        unknown = [code for code in codes if code not in self._full]
        races = dict(zip(unknown, await self._store.load_races(unknown), strict=True))
        for code, race in races.items():
            if race is not None and len(race.racers) >= MAX_PLAYERS:
                self._full[code] = now, race
        return [races[code] if code in races else self._full[code][1] for code in codes]

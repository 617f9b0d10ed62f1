"""The list of rooms for players."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from samedeal.games import game_named
from samedeal.protocol.messages import RoomLine
from samedeal_server.loop_timers import Timers
from samedeal_server.races.public_facts import room_line
from samedeal_server.rooms.cached_value import LIST_LIFETIME, MAX_LISTED, CachedValue
from samedeal_server.store.room_indexes import ListedRoom
from samedeal_server.store.store import Store

EMPTY_LISTED: Final = 120_000
"""Time, in milliseconds, for which a room without players is listed: from its opening, or until its scheduled start."""

MOST_OF_ORIGIN: Final = 5
"""Number of rooms of one origin after which its other rooms come last in the list.

Otherwise two addresses could open so many rooms that nobody finds any other.
"""

FILTERED_LIFETIME: Final = 5.0
"""Time, in seconds, for which a list with a filter is cached. It reads up to ``_READ`` rooms."""

_READ: Final = 1_000
"""Number of rooms among which those for the list are chosen. Without a filter, only their codes are read."""


class RoomList:
    """The list of public rooms that are ``open`` or admit spectators, with filters.

    Rooms with players come first, the newest ones first.
    """

    def __init__(self, store: Store, timers: Timers) -> None:
        self._store = store
        self._timers = timers
        self._lists: dict[tuple[str, bool, bool], CachedValue[tuple[RoomLine, ...]]] = {}

    async def lines(self, game: str = "", *, only_open: bool = False, bots: bool = False) -> tuple[RoomLine, ...]:
        """Return at most ``MAX_LISTED`` rooms.

        These are rooms of ``game`` unless it is empty, only open ones if ``only_open``, and with ``bots`` only those that
        admit bots.

        Raise UnknownGame if no game has the name, and StoreUnavailable if Redis fails.
        """
        if game:
            game_named(game)
        chosen = game, only_open, bots
        if chosen not in self._lists:
            lifetime = LIST_LIFETIME if chosen == ("", False, False) else FILTERED_LIFETIME
            self._lists[chosen] = CachedValue(partial(self._read, *chosen), self._timers, lifetime)
        return await self._lists[chosen].get()

    async def _read(self, game: str, *only: bool) -> tuple[RoomLine, ...]:
        only_open, bots = only
        index = self._store.index
        rooms = choose(await index.listed(_READ), await self._store.now())
        fitting: list[RoomLine] = []
        for at in range(0, len(rooms) if game or any(only) else MAX_LISTED, MAX_LISTED):
            read = rooms[at : at + MAX_LISTED]
            lines = await room_lines(self._store, [line.room for line in read])
            await index.unlist(line for line in read if lines[line.room] is None)
            fitting += [
                line
                for line in lines.values()
                if line
                and game in ("", line.game)
                and (line.phase == "open" or (line.spectators and not only_open))
                and (line.bots or not bots)
            ]
            if len(fitting) >= MAX_LISTED:
                break
        return tuple(fitting[:MAX_LISTED])


async def room_lines(store: Store, rooms: Sequence[str]) -> dict[str, RoomLine | None]:
    """Return public rooms as lines, by their codes. The value is None for one that is gone, private or open to nobody.

    Raise StoreUnavailable if Redis fails.
    """
    races = await store.load_races(rooms)
    return {
        room: room_line(race) if race is not None and race.is_listed else None
        for room, race in zip(rooms, races, strict=True)
    }


def choose(rooms: Iterable[ListedRoom], now: int) -> list[ListedRoom]:
    """Return the rooms to list at the time ``now``.

    Rooms that have been empty for long are left out, and those beyond the share of their origin come last.
    """
    first: list[ListedRoom] = []
    last: list[ListedRoom] = []
    counts = Counter[str]()
    for line in rooms:
        if line.empty and now - line.since > EMPTY_LISTED:
            continue
        counts[line.origin] += 1
        beyond = line.origin and counts[line.origin] > MOST_OF_ORIGIN
        (last if beyond else first).append(line)
    return [*first, *last]

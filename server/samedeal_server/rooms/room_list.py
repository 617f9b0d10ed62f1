"""The list of rooms for players."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from samedeal.protocol.messages import RoomLine
from samedeal_server.races.race import Race
from samedeal_server.rooms.cached_list import MAX_LISTED
from samedeal_server.store.room_indexes import ListedRoom
from samedeal_server.store.store import Store

EMPTY_LISTED: Final = 120_000
"""Time, in milliseconds, for which a room without players is listed: from its opening, or until its scheduled start."""

MOST_OF_ORIGIN: Final = 5
"""Number of rooms of one origin after which its other rooms come last in the list.

Otherwise two addresses could open so many rooms that nobody finds any other.
"""

_READ: Final = 1_000
"""Number of rooms among which those for the list are chosen. Only their codes are read."""


async def list_public_rooms(store: Store) -> tuple[RoomLine, ...]:
    """Return at most ``MAX_LISTED`` rooms that are ``open`` or admit spectators.

    Rooms with players come first, the newest ones first. Private rooms are included. Raise StoreUnavailable if Redis fails.
    """
    chosen = choose(await store.index.listed(_READ), await store.now())
    lines = await room_lines(store, [line.room for line in chosen])
    await store.index.unlist(line for line in chosen if lines[line.room] is None)
    return tuple(line for line in lines.values() if line and (line.phase == "open" or line.spectators))


async def room_lines(store: Store, rooms: Sequence[str]) -> dict[str, RoomLine | None]:
    """Return rooms as lines, by their codes. The value is None for a room that is gone or closed.

    Raise StoreUnavailable if Redis fails.
    """
    races = await store.load_races(rooms)
    return {room: _line(race) for room, race in zip(rooms, races, strict=True)}


def _line(race: Race | None) -> RoomLine | None:
    if race is None or race.phase == "closed":
        return None
    return RoomLine(
        room=race.room,
        game=race.game.name,
        deal=race.deal,
        phase=race.phase,
        players=len(race.racers),
        seats=race.options.players,
        private=race.private,
        spectators=race.options.spectators,
        starts=race.starts,
        delay=race.options.delay,
        bots=race.options.bots,
    )


def choose(rooms: Iterable[ListedRoom], now: int) -> list[ListedRoom]:
    """Return the rooms to list at the time ``now``, at most ``MAX_LISTED``.

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
    return [*first, *last][:MAX_LISTED]

"""The rooms of tides: all players who come are sent to one room. A second one, which shares nothing, opens if it is full."""

from __future__ import annotations

from typing import Final

from samedeal.options import MAX_SEATS, Options
from samedeal.race.seats import is_barred
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal.tides import OPEN_FOR, has_tide
from samedeal_server.rooms.registry import RoomRegistry

_COUNTDOWN: Final = 10
_MOST_ROOMS: Final = 64
"""Maximum number of rooms of a tide, for people and again for bots."""

_ROOMS_PER_READ: Final = 4


async def find_tide_room(rooms: RoomRegistry, game: str, start: int, player: str, network: str, *, bot: bool) -> str:
    """Return the code of a room of the tide, in which the player has a seat or can take one.

    Declared bots meet in rooms of their own. The codes of the rooms follow from the game, the start and their numbers, so
    that all nodes open the same ones. They are keyed: nobody can open such a room before.

    Raise RequestRefused if there is no such tide, if it is not open for the player yet, or if no room can be opened.
    """
    store = rooms.store
    now = await store.now()
    if not has_tide(rooms.tides, game, start) or now >= start - 1000 * _COUNTDOWN:
        raise refused("no_tide")
    past = await store.earlier.past(player)
    opens = start - OPEN_FOR + (past.wait if past.tide != start else 0)
    if now < opens:
        seconds = -(-(opens - now) // 1000)
        wait = f"{seconds} s" if seconds < 60 else f"{-(-seconds // 60)} min"
        raise refused("tide_not_open", retry_after=seconds, wait=wait)
    room = await _claim(rooms, game, start, player, network, bot=bot)
    await store.earlier.change_past(player, lambda past: past.entering(start))
    return room


async def _claim(rooms: RoomRegistry, game: str, start: int, player: str, network: str, *, bot: bool) -> str:
    store, creator = rooms.store, rooms.creator
    tide = f"{game} {start} {'bots' if bot else 'people'}"
    origin = creator.origin(network)
    seats: list[str] = []
    races: list[Race | None] = []
    while None not in races and len(seats) < _MOST_ROOMS:
        codes = [creator.shared_code(f"tide {tide} {len(seats) + each}") for each in range(_ROOMS_PER_READ)]
        races = await store.load_races(codes)
        for code, race in zip(codes, races, strict=True):
            if race is None:
                break
            if race.racer(player) is not None:
                return code
            is_open = race.phase == "open" and race.tide == start and not is_barred(race, player, origin)
            seats.append(" ".join(f"{each.player} {each.origin}" for each in race.racers) if is_open else "full")
    number = await store.tides.claim(tide, player, origin, seats, _MOST_ROOMS)
    if number < 0:
        raise refused("server_full")
    code = creator.shared_code(f"tide {tide} {number}")
    if number >= len(seats):
        options = Options.scheduled(game, start, _COUNTDOWN, bots=bot, players=MAX_SEATS)
        await creator.create_shared(options, code, network, start)
    return code

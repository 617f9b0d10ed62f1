"""Race now: the public room whose race starts soonest, opened if there is none."""

from __future__ import annotations

from typing import Final

from samedeal.games import LEAD_GAME, game_named
from samedeal.options import Options
from samedeal.protocol.messages import RoomLine
from samedeal.race.seats import MOST_HOUSE, is_barred, is_crowded
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.room_list import RoomList

PERIOD: Final = 15_000
"""Time, in milliseconds, between two races of a game that the server opens. They start at the multiples of this time."""

SHORTEST_WAIT: Final = 8_000
"""Minimum time, in milliseconds, until the start of a race that the server opens.

A room that is open already is found until half of this time before its start.
"""

LONGEST_WAIT: Final = SHORTEST_WAIT + PERIOD
"""Maximum time, in milliseconds, until the start of a race that a player is sent to."""

_COUNTDOWN: Final = 3
_LEAST_WINS: Final = 0.4
"""The share of random deals that the solver wins in a game, below which nobody is sent to a race on a random deal."""

_MOST_ROOMS: Final = 256
"""Maximum number of rooms that the server opens for one start. So many players are waiting only in an attack."""


async def find_room_for_now(rooms: RoomRegistry, room_list: RoomList, game: str, player: str, network: str) -> str:
    """Return the code of the room whose race starts soonest. Open one if there is none.

    The race is in ``game``. If that is empty, it is in any well-known game, and a room is opened for ``LEAD_GAME``. A
    room in which the player has a seat comes first, so that asking twice is the same as asking once. Raise SamedealError
    if there is no such game, or if no room can be opened.
    """
    now, origin = await rooms.store.now(), rooms.creator.origin(network)
    lines = [line for line in await room_list.lines(game, only_open=True) if _is_soon(line, now)]
    lines = [line for line in lines if game or game_named(line.game).file.known]
    lines.sort(key=lambda line: (line.starts, -line.players))
    races = await rooms.store.load_races([line.room for line in lines])
    fitting = [race for race in races if race is not None and _admits(race, player, origin)]
    fitting.sort(key=lambda race: race.racer(player) is None)
    return fitting[0].room if fitting else await _open(rooms, game or LEAD_GAME, now, player, network)


async def _open(rooms: RoomRegistry, game: str, now: int, player: str, network: str) -> str:
    """Return the code of a room that the server opens, or has opened.

    It follows from the game and the start, so that all nodes send players to the same room. It is keyed: nobody can open
    that room before.
    """
    creator, load_races = rooms.creator, rooms.store.load_races
    for start in range(_next_start(now + SHORTEST_WAIT // 2), _next_start(now + SHORTEST_WAIT) + 1, PERIOD):
        options = Options.scheduled(game, start, _COUNTDOWN, bots=False)
        for number in range(_MOST_ROOMS):
            code = creator.shared_code(f"{game} {start} {number}")
            (race,) = await load_races([code])
            if race is None:
                if start < now + SHORTEST_WAIT:
                    break  # too late to open a room, but not to find one that the list has not yet
                await creator.create_shared(options, code, network, house=MOST_HOUSE)
                (race,) = await load_races([code])
            if race is not None and race.options == options and _admits(race, player, creator.origin(network)):
                return code
    raise refused("no_free_code")


def _admits(race: Race, player: str, origin: str) -> bool:
    if not race.is_open or race.private or (race.tide and race.options.bots):
        return False  # in a tide, bots meet in rooms of their own
    if is_barred(race, player, origin):
        return False
    if race.racer(player) is not None:
        return True
    return len(race.racers) < race.options.players and not is_crowded(race, origin)


def _is_soon(line: RoomLine, now: int) -> bool:
    is_hopeless = game_named(line.game).file.wins < _LEAST_WINS and not line.deal.startswith(("winnable", "daily"))
    return not is_hopeless and SHORTEST_WAIT // 2 <= line.starts - now <= LONGEST_WAIT


def _next_start(time: int) -> int:
    return -(-time // PERIOD) * PERIOD

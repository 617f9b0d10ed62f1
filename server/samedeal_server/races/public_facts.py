"""What everybody may know about a race: its line in the list of rooms, and news of it. Pure."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from samedeal.protocol.messages import RoomLine, Standing
from samedeal.race.values import Race
from samedeal_server.races.race_record import race_id


class RaceNews(Struct, frozen=True, kw_only=True):
    """News of a public race: its room has opened, or the race has started or finished at the time ``time``.

    ``race`` is the id of the race, and empty until it starts. ``standings`` is empty until the race has finished.
    """

    event: Literal["opened", "started", "finished"]
    time: int
    room: RoomLine
    race: str = ""
    standings: tuple[Standing, ...] = ()


def room_line(race: Race) -> RoomLine:
    """Return the line of a room in the list of rooms."""
    return RoomLine(
        room=race.room,
        game=race.game.name,
        deal=race.deal,
        phase=race.phase,
        players=len(race.racers),
        seats=race.options.players,
        spectators=race.options.spectators and (not race.window or race.phase == "finished"),
        starts=race.starts or race.options.start_at,
        delay=race.options.delay,
        bots=race.options.bots,
        path=race.path,
        closes=race.doors_close_at if race.phase == "open" else race.ends if race.window else 0,
    )


def line_for_programs(line: RoomLine) -> RoomLine:
    """Return the line of a room as the API has it: the window of a race that is over does not close any more.

    Clients get the time nevertheless, because those that watch the race compare it with what the room shows.
    """
    return replace(line, closes=0) if line.phase == "finished" else line


def news_of(race: Race, change: str) -> RaceNews | None:
    """Return the news that a change of a race is for everybody, or None if it is none.

    ``change`` is the name of a change as in the events of a room. A race without spectators is public only until it
    starts. The opening of a room is no news if all its seats are for known players: the one who opens it, or those of the
    race before.
    """
    is_free = race.options.players > max(1, len(race.before.players))
    if not race.is_for_everybody or not (is_free if change == "opened" else race.options.spectators):
        return None
    line = line_for_programs(room_line(race))
    match change:
        case "opened":
            return RaceNews(event="opened", time=race.created, room=line)
        case "racing":
            return RaceNews(event="started", time=race.starts, room=line, race=race_id(race))
        case "finished":
            standings = race.shown_standings
            return RaceNews(
                event="finished", time=race.result.finished_at, room=line, race=race_id(race), standings=standings
            )
        case _:
            return None

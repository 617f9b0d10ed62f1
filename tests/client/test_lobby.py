"""The lobby's state: the order of rooms, and the deal of the day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from samedeal.games import GAMES, game_named
from samedeal.protocol.messages import RoomLine
from samedeal_client.menus.lobby import DAILY_GAMES, Lobby, game_of_the_day
from tests.client.room_lines import line

TODAY = date(2026, 11, 21)


def lobby(*rooms: RoomLine, **more: Any) -> Lobby:
    return Lobby(TODAY, **more).listed(rooms)


def codes(at: Lobby) -> list[str]:
    return [room.room for room in at.rooms or ()]


FRIDAY, LUNCH, CUP = line("friday"), line("lunch", "5/5"), line("cup", "4/4", "racing")


def test_rooms_are_sorted_by_what_the_player_can_do_there() -> None:
    own = line("own", phase="racing")
    at = lobby(
        line("done", phase="finished", starts=1),
        line("mine", phase="finished"),
        line("last", phase="finished", starts=2),
        *(CUP, LUNCH, line("soon", phase="countdown"), line("left", "0/4"), FRIDAY, own),
        own_room="own",
        last_room="mine",
    )
    assert codes(at) == ["own", "friday", "lunch", "soon", "cup", "left", "mine", "last", "done"]
    assert at.own_race == own
    assert lobby(line("own"), own_room="own").own_race is None


def test_daily_games_cycle() -> None:
    days = [game_of_the_day(TODAY + timedelta(day)) for day in range(len(DAILY_GAMES))]
    assert {*days} == {*GAMES} - {"spider"}  # its deals take the solver too long
    assert sum(game_named(game).file.known for game in days) >= len(days) / 2
    assert Lobby(TODAY, game="phoenix").daily_game == Lobby(TODAY).daily_game == game_of_the_day(TODAY)
    assert Lobby(TODAY, game="phoenix").game_or_default == "phoenix"
    assert Lobby(TODAY).game_or_default == game_of_the_day(TODAY)


def test_daily_rooms_have_the_deal_and_game_of_the_day() -> None:
    game = game_of_the_day(TODAY)
    other = next(each for each in DAILY_GAMES if each != game)
    at = lobby(
        line("today", game=game, deal="daily 2026-11-21"),
        line("yesterday", game=game, deal="daily 2026-11-20"),
        line("other", game=other, deal="daily 2026-11-21"),
        game=other,
    )
    assert [room.room for room in at.daily_rooms()] == ["today"]

"""What the lobby does with keys and clicks, and what it asks for."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from samedeal.games import GAMES
from samedeal.protocol.messages import Phase, RoomLine
from samedeal_client.rooms.lobby import (
    DailyDeal,
    EnterRoom,
    Lobby,
    NewRoom,
    Practise,
    QuickMatch,
    Quit,
    ShowHelp,
    WatchRoom,
    Wish,
)

TODAY = date(2026, 11, 21)


def line(room: str, seats: str = "1/4", phase: Phase = "open", **more: Any) -> RoomLine:
    """A room in the list; ``seats`` as they are shown."""
    players, _, of = seats.partition("/")
    given: dict[str, Any] = {
        "game": "willow",
        "deal": "random",
        "private": False,
        "spectators": True,
        **more,
    }
    return RoomLine(room=room, phase=phase, players=int(players), seats=int(of), **given)


def lobby(*rooms: RoomLine, **more: Any) -> Lobby:
    return Lobby(TODAY, **more).listed(rooms)


def wish(at: Lobby, *keys: str) -> Wish | None:
    """What the last of some keys asks for."""
    asked: Wish | None = None
    for key in keys:
        at, asked = at.press(key)
    return asked


def pressed(at: Lobby, *keys: str) -> Lobby:
    for key in keys:
        at, _ = at.press(key)
    return at


FRIDAY, LUNCH, CUP = line("friday"), line("lunch", "5/5"), line("cup", "4/4", "racing")
THREE = lobby(FRIDAY, LUNCH, CUP)


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        (["enter"], EnterRoom("friday")),
        (["down", "enter"], EnterRoom("lunch")),
        (["j", "j", "k", "enter"], EnterRoom("lunch")),
        (["down", "down", "down", "down", "enter"], EnterRoom("cup")),
        (["up", "enter"], EnterRoom("friday")),
        (["2"], EnterRoom("lunch")),
        (["3"], EnterRoom("cup")),
        (["4"], None),
        (["w"], WatchRoom("friday")),
        (["n"], NewRoom("")),
        (["g", "n"], NewRoom("athena")),
        (["f1"], ShowHelp()),
        (["?"], ShowHelp()),
        (["ctrl+q"], Quit()),
        (["z"], None),
        (["escape"], None),
    ],
)
def test_what_keys_ask_for(keys: list[str], asked: Wish | None) -> None:
    assert wish(THREE, *keys) == asked


@pytest.mark.parametrize(
    ("does", "asked"),
    [
        (["choose lunch"], None),
        (["choose lunch", "choose lunch"], EnterRoom("lunch")),
        (["choose friday"], None),
        (["choose friday", "choose friday"], EnterRoom("friday")),
        (["choose cup", "watch"], WatchRoom("cup")),
        (["choose cup", "enter"], EnterRoom("cup")),
        (["quick"], QuickMatch(("friday",), THREE.daily_game)),
        (["new"], NewRoom("")),
    ],
)
def test_what_clicks_ask_for(does: list[str], asked: Wish | None) -> None:
    at = THREE
    got: Wish | None = None
    for what in does:
        at, got = at.do(what)
    assert got == asked


def test_a_digit_without_a_room_says_so() -> None:
    assert pressed(THREE, "7").said == "There is no room 7 in the list"


def test_without_rooms_it_says_how_to_come_by_one() -> None:
    assert "n opens one" in pressed(lobby(), "enter").said


def test_a_room_without_spectators_says_so() -> None:
    at = lobby(line("quiet", spectators=False))
    assert wish(at, "w") is None
    assert "Nobody may watch quiet" in pressed(at, "w").said


@pytest.mark.parametrize("key", ["z", "escape", "0", "f5", "ctrl+x"])
def test_what_means_nothing_in_the_lobby_is_known(key: str) -> None:
    assert not THREE.takes(key)
    assert THREE.asking("lunch", watch=False, wrong=False).takes(key)


@pytest.mark.parametrize("key", ["1", "9", "up", "enter", "n", "f1", "ctrl+q"])
def test_what_means_something_in_the_lobby_is_known(key: str) -> None:
    assert THREE.takes(key)


def test_what_was_said_is_gone_with_the_next_key() -> None:
    assert pressed(THREE, "7", "down").said == ""


# ---------------------------------------------------------------- the list


def test_rooms_with_a_seat_come_first_and_finished_ones_last_and_those_that_all_have_left_before_them() -> None:
    at = lobby(line("done", phase="finished"), CUP, LUNCH, line("soon", phase="countdown"), line("left", "0/4"), FRIDAY)
    assert [room.room for room in at.rooms or ()] == ["friday", "lunch", "soon", "cup", "left", "done"]


def test_the_chosen_room_stays_chosen_wherever_it_goes() -> None:
    at = pressed(THREE, "down").listed((line("new"), line("newer"), LUNCH, FRIDAY))
    assert at.chosen == "lunch"


def test_when_the_chosen_room_is_gone_the_first_is_chosen() -> None:
    assert pressed(THREE, "down").listed((CUP,)).chosen == "cup"
    assert THREE.listed(()).chosen == ""


# ---------------------------------------------------------------- quick match and daily deal


def test_a_quick_match_goes_where_the_fewest_are_missing() -> None:
    at = lobby(line("empty", "0/2"), line("one", "1/4"), line("three", "3/4"), line("full", "4/4"))
    assert wish(at, "q") == QuickMatch(("three", "one"), at.daily_game)


def test_a_quick_match_leaves_private_and_running_rooms_alone() -> None:
    assert wish(lobby(line("secret", private=True), CUP), "q") == QuickMatch((), lobby().daily_game)


def test_a_quick_match_is_for_the_chosen_game() -> None:
    at = lobby(line("w"), line("s", game="steve"), game="steve")
    assert wish(at, "q") == QuickMatch(("s",), "steve")


def test_the_game_goes_round_both_ways() -> None:
    at = THREE
    seen = []
    for _ in range(len(GAMES) + 1):
        at = pressed(at, "g")
        seen.append(at.game)
    assert seen == [*GAMES, ""]
    assert pressed(THREE, "left").game == list(GAMES)[-1]


def test_each_day_has_its_game_and_five_days_have_all() -> None:
    games = {Lobby(date(2026, 11, day)).daily_game for day in range(1, 6)}
    assert games == set(GAMES)


def test_the_daily_deal_joins_who_plays_it_already() -> None:
    at = lobby(
        line("today", game="steve", deal="daily 2026-11-21"),
        line("yesterday", game="steve", deal="daily 2026-11-20"),
        line("other", game="willow", deal="daily 2026-11-21"),
        game="steve",
    )
    assert wish(at, "d") == DailyDeal(("today",), "steve")


def test_practice_is_in_the_chosen_game() -> None:
    assert wish(lobby(game="phoenix"), "p") == Practise("phoenix")


# ---------------------------------------------------------------- the passphrase


def asked(*, watch: bool = False) -> Lobby:
    return THREE.asking("lunch", watch=watch, wrong=False)


def test_the_passphrase_is_typed_and_sent() -> None:
    assert wish(asked(), *"n q1", "enter") == EnterRoom("lunch", "n q1")
    assert wish(asked(watch=True), *"x", "enter") == WatchRoom("lunch", "x")


def test_the_passphrase_can_be_mended() -> None:
    assert wish(asked(), *"abc", "backspace", "d", "enter") == EnterRoom("lunch", "abd")
    assert wish(asked(), *"abc", "ctrl+u", "d", "enter") == EnterRoom("lunch", "d")


def test_the_passphrase_can_be_pasted() -> None:
    at = asked().paste("  open sesame\nand more")
    assert wish(at, "enter") == EnterRoom("lunch", "open sesame")
    assert THREE.paste("x") == THREE


def test_the_passphrase_can_be_given_up() -> None:
    at = pressed(asked(), "a", "escape")
    assert at.prompt is None
    assert wish(at, "enter") == EnterRoom("friday")


def test_while_it_is_asked_for_keys_are_text() -> None:
    at = pressed(asked(), "w", "1", "up")
    assert at.prompt is not None
    assert at.prompt.text == "w1"
    assert at.chosen == "friday"


def test_a_wrong_passphrase_is_asked_for_again_with_a_word() -> None:
    at = THREE.asking("lunch", watch=False, wrong=True)
    assert "not the passphrase" in at.said
    assert at.prompt is not None

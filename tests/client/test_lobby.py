"""The lobby's state after keys and clicks, and its requests."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from samedeal.games import GAMES
from samedeal.protocol.messages import RoomLine
from samedeal_client.state.lobby import (
    DailyDeal,
    EnterRoom,
    Lobby,
    LobbyRequest,
    OpenRoomForm,
    Practise,
    QuickMatch,
    Quit,
    ShowHelp,
    WatchRoom,
)
from tests.client.room_lines import line
from tests.golden.golden_files import assert_sentences

TODAY = date(2026, 11, 21)


def lobby(*rooms: RoomLine, **more: Any) -> Lobby:
    return Lobby(TODAY, **more).listed(rooms)


def wish(at: Lobby, *keys: str) -> LobbyRequest | None:
    """Press keys and return the request of the last one."""
    asked: LobbyRequest | None = None
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
        (["n"], OpenRoomForm("")),
        (["g", "n"], OpenRoomForm("athena")),
        (["f1"], ShowHelp()),
        (["?"], ShowHelp()),
        (["ctrl+q"], Quit()),
        (["z"], None),
        (["escape"], None),
    ],
)
def test_keys_make_requests(keys: list[str], asked: LobbyRequest | None) -> None:
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
        (["new"], OpenRoomForm("")),
    ],
)
def test_clicks_make_requests(does: list[str], asked: LobbyRequest | None) -> None:
    at = THREE
    got: LobbyRequest | None = None
    for what in does:
        at, got = at.do(what)
    assert got == asked


def test_digit_without_a_room_is_explained() -> None:
    assert pressed(THREE, "7").message


def test_empty_lobby_says_how_to_open_a_room() -> None:
    assert pressed(lobby(), "enter").message


def test_room_without_spectators_is_explained() -> None:
    at = lobby(line("quiet", spectators=False))
    assert wish(at, "w") is None
    assert pressed(at, "w").message


@pytest.mark.parametrize("key", ["z", "escape", "0", "f5", "ctrl+x"])
def test_unknown_keys_are_not_handled(key: str) -> None:
    assert not THREE.handles(key)
    assert THREE.with_prompt("lunch", watch=False, wrong=False).handles(key)


@pytest.mark.parametrize("key", ["1", "9", "up", "enter", "n", "f1", "ctrl+q"])
def test_known_keys_are_handled(key: str) -> None:
    assert THREE.handles(key)


def test_next_key_removes_the_message() -> None:
    assert pressed(THREE, "7", "down").message == ""


def test_rooms_are_sorted_by_phase_and_seats() -> None:
    at = lobby(line("done", phase="finished"), CUP, LUNCH, line("soon", phase="countdown"), line("left", "0/4"), FRIDAY)
    assert [room.room for room in at.rooms or ()] == ["friday", "lunch", "soon", "cup", "left", "done"]


def test_own_race_is_first_and_selected() -> None:
    rooms = (line("free"), line("other", phase="racing"), line("own", phase="racing"))
    at = lobby(*rooms, own_room="own")
    assert at.rooms is not None
    assert [each.room for each in at.rooms] == ["own", "free", "other"]
    assert (at.own_race, at.chosen, wish(at, "enter")) == ("own", "own", EnterRoom("own"))
    assert lobby(line("own"), own_room="own").own_race == ""


def test_selection_follows_its_room() -> None:
    at = pressed(THREE, "down").listed((line("new"), line("newer"), LUNCH, FRIDAY))
    assert at.chosen == "lunch"


def test_first_room_replaces_a_lost_selection() -> None:
    assert pressed(THREE, "down").listed((CUP,)).chosen == "cup"
    assert THREE.listed(()).chosen == ""


def test_quick_match_prefers_almost_full_rooms() -> None:
    at = lobby(line("empty", "0/2"), line("one", "1/4"), line("three", "3/4"), line("full", "4/4"))
    assert wish(at, "q") == QuickMatch(("three", "one"), at.daily_game)


def test_quick_match_skips_private_and_running_rooms() -> None:
    assert wish(lobby(line("secret", private=True), CUP), "q") == QuickMatch((), lobby().daily_game)


def test_quick_match_uses_the_chosen_game() -> None:
    at = lobby(line("w"), line("s", game="steve"), game="steve")
    assert wish(at, "q") == QuickMatch(("s",), "steve")


def test_game_choice_cycles_both_ways() -> None:
    at = THREE
    seen = []
    for _ in range(len(GAMES) + 1):
        at = pressed(at, "g")
        seen.append(at.game)
    assert seen == [*GAMES, ""]
    assert pressed(THREE, "left").game == list(GAMES)[-1]


def test_daily_games_cycle_in_five_days() -> None:
    games = {Lobby(date(2026, 11, day)).daily_game for day in range(1, 6)}
    assert games == set(GAMES)


def test_daily_deal_joins_its_rooms() -> None:
    at = lobby(
        line("today", game="steve", deal="daily 2026-11-21"),
        line("yesterday", game="steve", deal="daily 2026-11-20"),
        line("other", game="willow", deal="daily 2026-11-21"),
        game="steve",
    )
    assert wish(at, "d") == DailyDeal(("today",), "steve")


def test_practice_uses_the_chosen_game() -> None:
    assert wish(lobby(game="phoenix"), "p") == Practise("phoenix")


def asked(*, watch: bool = False) -> Lobby:
    return THREE.with_prompt("lunch", watch=watch, wrong=False)


def test_typed_passphrase_is_sent() -> None:
    assert wish(asked(), *"n q1", "enter") == EnterRoom("lunch", "n q1")
    assert wish(asked(watch=True), *"x", "enter") == WatchRoom("lunch", "x")


def test_passphrase_can_be_edited() -> None:
    assert wish(asked(), *"abc", "backspace", "d", "enter") == EnterRoom("lunch", "abd")
    assert wish(asked(), *"abc", "ctrl+u", "d", "enter") == EnterRoom("lunch", "d")


def test_passphrase_can_be_pasted() -> None:
    at = asked().paste("  open sesame\nand more")
    assert wish(at, "enter") == EnterRoom("lunch", "open sesame")
    assert THREE.paste("x") == THREE


def test_passphrase_prompt_can_be_cancelled() -> None:
    at = pressed(asked(), "a", "escape")
    assert at.prompt is None
    assert wish(at, "enter") == EnterRoom("friday")


def test_keys_are_text_in_the_passphrase_prompt() -> None:
    at = pressed(asked(), "w", "1", "up")
    assert at.prompt is not None
    assert at.prompt.text == "w1"
    assert at.chosen == "friday"


def test_wrong_passphrase_prompts_again() -> None:
    at = THREE.with_prompt("lunch", watch=False, wrong=True)
    assert at.message
    assert at.prompt is not None


def test_messages_are_worded() -> None:
    private = lobby(line("quiet", spectators=False))
    messages = {
        "no room with this number": pressed(THREE, "7"),
        "no rooms": pressed(lobby(), "enter"),
        "no spectators": pressed(private, "w"),
        "wrong passphrase": THREE.with_prompt("lunch", watch=False, wrong=True),
    }
    assert_sentences("lobby", [f"{case}\t{at.message}" for case, at in messages.items()])

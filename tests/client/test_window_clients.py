"""Races with a window in both clients of the terminal: what asks first, what keeps the seat, what is said to whom."""

from __future__ import annotations

from typing import Any

import pytest

from samedeal.options import Options
from samedeal.protocol.messages import Begin, Leave, RaceNow, Rematch, Resign, Standing, Start, ToServer
from samedeal.race.commands import ResignCommand
from samedeal.race.values import DrawProgress, RaceResult
from tests.client.referee import ME, START, Referee, running_app
from tests.client.typed_lines import printed
from tests.client.window_referee import ENDS, WindowReferee


def requests_of(referee: WindowReferee, *kinds: Any) -> list[str]:
    """The names of the requests of some kinds so far."""
    return [type(each).__name__ for each in referee.requests if isinstance(each, kinds)]


@pytest.mark.parametrize("begun", [False, True])
async def test_plain_resign_in_a_window_asks_once(monkeypatch: pytest.MonkeyPatch, *, begun: bool) -> None:
    for lines, done in ((("resign",), False), (("resign", "resign"), True)):
        referee = WindowReferee()
        said = await printed(monkeypatch, *(["start"] if begun else []), *lines, referee=referee)
        assert "If you resign, you have no other try. Type resign again to resign." in said
        assert requests_of(referee, Begin, Resign) == ["Begin"] * begun + ["Resign"] * done


async def test_host_closes_doors_and_begins_without_a_question_about_who_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who is away keeps the seat and races later."""
    for phase, request in (("open", "Start"), ("racing", "Begin")):
        referee = WindowReferee(phase)
        assert "Type start again" not in await printed(monkeypatch, "start", referee=referee)
        assert requests_of(referee, Start, Begin) == [request]
        async with running_app(referee := WindowReferee(phase)) as ui:
            await ui.press("enter")
            assert requests_of(referee, Start, Begin) == [request]


async def test_host_of_a_series_closes_doors_that_were_opened_again() -> None:
    for draw, starts in ((DrawProgress(), False), (DrawProgress(number=5), True)):
        referee = WindowReferee("open", opens=(START, ENDS), draw=draw)
        async with running_app(referee) as ui:
            assert ("close doors" in ui.line("#keys")) == starts
            await ui.press("enter")
            assert bool(requests_of(referee, Start)) == starts


async def test_panel_counts_all_players_while_the_window_is_open() -> None:
    referee = WindowReferee()
    referee.begin_own()
    async with running_app(referee, (120, 30)) as ui:
        assert "RACE  3 players" in ui.text()
        assert "mira" not in ui.text()


@pytest.mark.parametrize(("opens", "kind"), [((START, ENDS), RaceNow), ((START,), Rematch)])
async def test_next_race_of_a_series_is_the_one_that_is_open(
    monkeypatch: pytest.MonkeyPatch, opens: tuple[int, ...], kind: type[ToServer]
) -> None:
    """Also if those before it were missed. After the last race, it is a rematch."""
    results = RaceResult(
        standings=(Standing(place=1, player=ME, name="ana", foundation_cards=1, time=0, moves=1, undos=0),)
    )
    race: Any = {"opens": opens, "result": results, "next": "friday-2"}
    said = await printed(monkeypatch, "again", referee=(referee := WindowReferee("finished", **race)))
    assert "This room is closed" not in said
    (request,) = (each for each in referee.requests if isinstance(each, (RaceNow, Rematch)))
    assert isinstance(request, kind)
    assert getattr(request, "series", "friday") == "friday"
    async with running_app(referee := WindowReferee("finished", **race)) as ui:
        await ui.press("m")
        await ui.wait_until(lambda: requests_of(referee, kind) != [])


async def test_full_screen_resigns_only_after_a_question() -> None:
    referee = WindowReferee()
    async with running_app(referee) as ui:
        await ui.press("ctrl+r")
        assert ui.screen == "RaceScreen"
        await ui.press("enter", "ctrl+r")
        assert ui.screen == "ResignScreen"
    assert requests_of(referee, Begin, Resign) == ["Begin"]


@pytest.mark.parametrize(
    ("phase", "lines"), [("racing", ("leave",)), ("racing", ("start", "leave", "leave")), ("open", ("leave",))]
)
async def test_plain_leave_keeps_the_seat_once_the_doors_are_closed(
    monkeypatch: pytest.MonkeyPatch, phase: str, lines: tuple[str, ...]
) -> None:
    referee = WindowReferee(phase)
    said = await printed(monkeypatch, *lines, referee=referee)
    is_open = phase == "open"
    assert ("You have left the room." in said, "Bye" in said) == (is_open, not is_open)
    assert requests_of(referee, Leave) == ["Leave"] * is_open
    assert referee.saved_room == ("" if is_open else "friday")


async def test_seat_that_is_kept_is_offered_after_leaving_the_screen() -> None:
    """Not after leaving while the doors are open, which gives up the seat. In a series it is that of the next race too."""
    series = {"opens": (START, ENDS)}
    cases: Any = (("racing", {}, "friday"), ("open", {}, ""), ("open", series, ""), ("finished", series, "s/friday"))
    for phase, race, room in cases:
        referee = WindowReferee(phase, **race)
        async with running_app(referee) as ui:
            await ui.app.client.leave()
            await ui.settle()
            assert ui.screen == "LobbyScreen"
            assert ui.app.client.link.saved_room == room


async def test_plain_client_says_once_that_the_player_has_raced(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing about the time that is left, which there is none of."""
    monkeypatch.setattr("samedeal_client.line_by_line.line_output._CLOCK_INTERVAL", 0)
    for resigned in (False, True):
        referee = WindowReferee()
        referee.begin_own()
        referee.time += 14 * 60_000 + 20_000  # 40 seconds are left
        if resigned:
            referee.tell(ResignCommand(ME))
        said = await printed(monkeypatch, referee=referee, rounds=50)
        assert said.count("You have raced. Nobody sees how until all have, at the latest ") == resigned
        assert said.count("One minute left.") == (not resigned)


async def test_clock_of_the_screen_ends_with_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    referee = WindowReferee()
    referee.begin_own()
    referee.time += 15 * 60_000 - 20_000
    async with running_app(referee, (120, 30)) as ui:
        assert ("00:20 LEFT" in ui.line("#header"), "20 SECONDS LEFT" in ui.text()) == (True, True)
        await ui.press("ctrl+r", "y")
        await ui.wait_until(lambda: "You have raced." in ui.text())
        assert "LEFT" not in ui.text().upper()


async def test_screens_of_a_window_promise_nothing_that_it_has_not() -> None:
    """Nobody is waited for there, nobody watches, and Begin is what cards wait for."""
    async with running_app(WindowReferee("open")) as ui:
        assert "ready" not in ui.text().lower()
    async with running_app(WindowReferee()) as ui:
        await ui.press("3")
        assert ui.message == "The cards have not been dealt yet. You can move when your race has begun."
        await ui.press("enter", "ctrl+q")
        assert "r    resign: your cards still count, no other try" in ui.text()
        await ui.press("escape")
        await ui.wait_until(lambda: ui.screen == "RaceScreen")
        await ui.press("ctrl+r")
        await ui.wait_until(lambda: "You have no other try." in ui.text())


async def test_nobody_is_told_to_watch_a_race_without_spectators() -> None:
    options = Options(deal="#7", spectators=False, end_when_settled=False)
    async with running_app(Referee(options=options)) as ui:
        await ui.press("ctrl+q")
        assert "you can watch" not in ui.text()
        await ui.press("escape")
        await ui.wait_until(lambda: ui.screen == "RaceScreen")
        await ui.press("ctrl+r")
        await ui.wait_until(lambda: "You have no other try." in ui.text())


async def test_attempt_that_is_over_ends_no_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has raced may quit, although others have not."""
    for after, asks in ((60_000, True), (16 * 60_000, False)):
        referee = WindowReferee()
        referee.begin_own()
        referee.time += after
        assert ("Type quit again" in await printed(monkeypatch, "quit", referee=referee)) == asks
        async with running_app(referee) as ui:
            await ui.press("ctrl+q")
            assert ui.has_quit != asks

"""The start screen: what its keys run, its dialogs, and its settings."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Select

from samedeal.errors import MalformedText, RequestRefused
from samedeal.protocol_codes import RefusalCode
from samedeal.tides import tide_times
from samedeal_client.commands.arguments import player_name
from samedeal_client.commands.start import start
from samedeal_client.full_screen.screens.history import HistoryScreen
from samedeal_client.full_screen.screens.start import StartScreen
from samedeal_client.full_screen.start_app import StartApp
from samedeal_client.full_screen.widgets.themes import LIGHT
from samedeal_client.menus.lobby import game_of_the_day
from samedeal_client.menus.start_menu import RESTART, FailedChoice
from samedeal_client.panels.history import cut_off_text
from samedeal_client.saved_settings import Settings, load_settings, remember_server, save_settings
from samedeal_client.terminal_io.kept_screen import KeptScreen
from samedeal_client.text.appearance import Look
from samedeal_link.connection.saved_sessions import FileSessions
from samedeal_link.machine.paths import config_home, write_private
from samedeal_link.records.history_file import HistoryFile
from samedeal_link.records.past_races import Opponent, PastRace
from samedeal_link.records.record_files import record_path
from tests.golden.golden_files import asked_on, assert_answers, assert_golden
from tests.shared.playouts import won_record
from tests.textual_internals import screen_text, wait_for_screen

KEYS = {"enter", "escape", "up", "down", "home", "end", "tab", "backspace", "f1", *ascii_lowercase}


@contextlib.asynccontextmanager
async def start_screen(size: tuple[int, int] = (80, 24), look: Look | None = None) -> AsyncIterator[Pilot[list[str]]]:
    app = StartApp(look or Look())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, StartScreen)
        yield pilot


class _Noon(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _Noon:
        return cls(2026, 11, 22, 12, tzinfo=tz)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.full_screen.screens.look_screen.datetime", _Noon)


def today() -> str:
    return game_of_the_day(_Noon.now().date())


def keep_seat() -> list[str]:
    """Save a seat of the player ana. Return the command that leads back to it."""
    FileSessions().keep("ws://localhost:7777", "ana", "secret", "friday")
    return ["join", "ws://localhost:7777", "friday", "--name", "ana"]


def failed(*arguments: str) -> FailedChoice:
    return FailedChoice(list(arguments), "Nothing [listens] there.")


CHOSEN = Settings(limit=30, hints="always", level="careful")

BEFORE: dict[str, Callable[[], object]] = {
    "With a seat": keep_seat,
    "With settings": lambda: save_settings(CHOSEN),
    "With a last server": lambda: remember_server("example.org"),
    "With tides": lambda: remember_server(
        "example.org", tide_times([f"*:{(datetime.now(UTC).minute + 30) % 60:02} willow"])
    ),
    "After a failed watch": lambda: failed("watch", "no.example", "friday"),
    "After a failed host": lambda: failed("host", "willow"),
    "After a failed join": lambda: failed("join", "no.example", "friday"),
    "After a failed return": lambda: failed("join", "no.example", "friday", "--name", "ana"),
}
"""What happened before the start screens of the page, by their headings. A failed choice is given to the screen."""


async def answer(pilot: Pilot[list[str]], chosen: list[list[str]], question: str) -> str:
    """Press keys and paste texts. Return the command that was ``chosen``, or a text that is shown, to its end."""
    chosen.clear()
    keys, _, words = question.partition("; ")
    for key in shlex.split(keys):
        if key in KEYS:
            await pilot.press(key)
        else:
            pilot.app.post_message(Paste(key))
            await pilot.pause()
    if not words:
        return " ".join(chosen[0]) if chosen else "nothing"
    await wait_for_screen(pilot, lambda: words in screen_text(pilot.app))
    found = re.search(rf"{words}.*?(?=  |[│─]|$)", screen_text(pilot.app), re.MULTILINE)
    return re.sub(r"\d\d:\d\d", "NN:NN", found[0]) if found is not None else ""


async def test_start_screen_does_what_the_page_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each line goes on from the one above it. It has keys and pasted texts, and perhaps a text that is then shown.

    The screen stays open when a command is chosen.
    """
    chosen: list[list[str]] = []
    monkeypatch.setattr(StartApp, "exit", lambda _, command: chosen.append(command))
    given: list[str] = []
    for heading, asked in groupby(asked_on("start"), itemgetter(0)):
        for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            monkeypatch.setenv(variable, str(tmp_path / heading / variable))
        before = BEFORE.get(heading, list)()
        app = StartApp(Look(), before if isinstance(before, FailedChoice) else None)
        async with app.run_test(notifications=True) as pilot:
            await pilot.pause()
            given += [await answer(pilot, chosen, question) for _, question in asked]
    answers = iter(given)
    assert_answers("start", lambda heading, question: next(answers))


def choose(monkeypatch: pytest.MonkeyPatch, *commands: list[str]) -> None:
    """Let a player choose these commands on one start screen after another, and then quit."""
    choices = iter([*commands, []])

    async def run(_: StartApp) -> list[str]:
        KeptScreen.is_shown = True  # as after every choice
        return next(choices)

    monkeypatch.setattr(StartApp, "run_async", run)


async def test_seat_in_a_room_that_is_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_: Sequence[str]) -> int:
        raise RequestRefused(RefusalCode.NO_ROOM, "There is no such room.")

    choose(monkeypatch, keep_seat())
    assert await start(refuse) == 0
    assert FileSessions().kept_seat() is None


async def test_race_that_was_cut_off_is_told() -> None:
    remember_races(cut_off=True)
    async with start_screen((60, 20)) as pilot:
        assert cut_off_text(HistoryFile().read()) in " ".join(screen_text(pilot.app).split())


async def test_start_shows_the_menu_again_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player corrects a wrong address, and then quits."""
    shown: list[FailedChoice | None] = []

    def keep(_: StartApp, __: Look, failed: FailedChoice | None = None) -> None:
        shown.append(failed)

    async def command(arguments: Sequence[str]) -> int:
        if arguments[0] == "join":
            raise MalformedText("Nothing listens there.")
        return 0

    monkeypatch.setattr(StartApp, "__init__", keep)
    choose(monkeypatch, ["join", "localhost:1", "friday"], ["host", "willow"])
    assert await start(command) == 0
    assert shown == [None, FailedChoice(["join", "localhost:1", "friday"], "Nothing listens there."), None]


async def test_enter_in_a_setting_saves_and_stays() -> None:
    async with start_screen() as pilot:
        await pilot.press("s", *"mir", "enter")
        await wait_for_screen(pilot, lambda: "Saved." in screen_text(pilot.app))
        assert load_settings() == Settings(name="mir")
        await pilot.press("a")
        for name, value in (("ascii", True), ("theme", LIGHT.name), ("limit", 30), ("hints", "always")):
            pilot.app.screen.query_one(f"#{name}", Select).value = value
        await pilot.press("escape")
        assert pilot.app.return_value == list(RESTART)
    assert load_settings() == Settings(name="mira", ascii=True, theme=LIGHT.name, limit=30, hints="always")
    assert (player_name(""), player_name("ana")) == ("mira", "ana")


def test_damaged_settings_are_the_defaults() -> None:
    write_private(config_home() / "settings.json", "{")
    assert load_settings() == Settings()


async def test_theme_is_that_of_the_settings() -> None:
    save_settings(Settings(theme=LIGHT.name))
    async with start_screen() as pilot:
        assert pilot.app.theme == LIGHT.name
        assert isinstance(pilot.app, StartApp)
        assert not pilot.app.look.dark


def remember(game: str, number: int, **changes: Any) -> None:
    """Append a race to the history."""
    common = {"room": f"k{number}", "name": "ana", "place": 2, "players": 4, "foundation_cards": 31}
    HistoryFile().append(PastRace(game=game, **{**common, **changes}))


def remember_races(*, cut_off: bool = False) -> None:
    now, opponents = _Noon.now(UTC), (Opponent("漢字", bot=True),)
    race = {"deal": f"daily {now.date().isoformat()}", "starts": round(now.timestamp() * 1000), "opponents": opponents}
    for number, finished in enumerate((0, 352_000)):
        remember(today(), number, time=finished, cut_off=cut_off, **race)


async def test_history_is_shown_and_copied() -> None:
    remember_races()
    async with start_screen((120, 40)) as pilot:
        await wait_for_screen(pilot, lambda: "2nd of 4, 5:52" in screen_text(pilot.app))
        assert "Daily streak 1 day" in screen_text(pilot.app)
        await pilot.press("h")
        await wait_for_screen(pilot, lambda: "1 day in a row" in screen_text(pilot.app))
        assert isinstance(pilot.app.screen, HistoryScreen)
        await pilot.resize_terminal(60, 20)
        await wait_for_screen(pilot, lambda: ": 2nd of 4, 5:52" in screen_text(pilot.app))
        await pilot.press("c")
        assert pilot.app.clipboard.endswith(": 2nd of 4, 5:52")
        await wait_for_screen(pilot, lambda: "select with Shift and the mouse." in screen_text(pilot.app))
        await pilot.press("enter")
        await wait_for_screen(pilot, lambda: "no record of this race on this machine." in screen_text(pilot.app))
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, StartScreen)


async def test_past_race_shows_its_results_and_its_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter opens the results of the selected race if its record is saved."""
    replayed: list[str] = []

    async def run(_: StartApp, command: Sequence[str], _starting: str) -> int:
        replayed[:] = command
        return 0

    monkeypatch.setattr(StartApp, "run_command", run)
    remember_races()
    latest = HistoryFile().read().latest[0]
    async with start_screen() as pilot:
        await pilot.press("h")
        await wait_for_screen(pilot, lambda: "Enter results" in screen_text(pilot.app))
        path = record_path(latest.room, latest.starts)
        write_private(path, str(won_record("willow")))
        await pilot.press("enter")
        await wait_for_screen(
            pilot, lambda: "1st place" not in screen_text(pilot.app) and "v replay" in screen_text(pilot.app)
        )
        assert "52/52" in screen_text(pilot.app)
        assert "search won" in screen_text(pilot.app)
        await pilot.press("v")
        await wait_for_screen(pilot, lambda: replayed)
        assert replayed[:2] == ["replay", str(path)]
        assert "--back-to" in replayed
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, HistoryScreen)


def shows(pilot: Pilot[list[str]], words: str) -> bool:
    return words in screen_text(pilot.app)


@pytest.mark.parametrize(("size", "look"), [((80, 24), Look()), ((60, 20), Look(ascii=True))], ids=["glyphs", "ascii"])
async def test_start_screens_match_their_golden(size: tuple[int, int], look: Look) -> None:
    deals = (("willow", "daily 2026-11-21", 0), ("athena", "winnable easy", 352_000), ("steve", "#7", 0))
    for number, (game, deal, finished) in enumerate(deals):
        starts = round(datetime(2026, 11, 21, 12, number, tzinfo=UTC).timestamp() * 1000)
        race = {
            "deal": deal,
            "starts": starts,
            "time": finished,
            "place": number + 1,
            "players": 3,
            "resigned": number == 2,
        }
        remember(game, number, opponents=(Opponent("mira"), Opponent("June", bot=True)), **race)
    shown = []
    async with start_screen(size, look) as pilot:
        for name, keys, last in (
            ("start", [], "F1 has all rules"),
            ("join", ["j"], "Type a link"),
            ("settings", ["escape", "s"], "Last server"),
            ("history", ["escape", "h"], "copy the result"),
        ):
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            await wait_for_screen(pilot, lambda words=last: words in screen_text(pilot.app))  # type: ignore[misc]  # a word
            await pilot.pause()
            text = screen_text(pilot.app).rstrip()
            shown.append(f"{name}\n{'=' * 80}\n{text}\n{'=' * 80}\n")
    text = "\n".join(shown)
    assert text.isascii() or not look.ascii
    assert_golden(f"screens/start_{size[0]}x{size[1]}_{'ascii' if look.ascii else 'glyphs'}.txt", text)

"""Saved sessions: lookup, privacy, damaged and unwritable files."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from samedeal_client.saved_settings import Settings, load_settings, save_settings
from samedeal_link.connection.kept_seat import KeptSeat
from samedeal_link.connection.saved_sessions import SEAT_TIME, FileSessions, MemorySessions, are_saved
from samedeal_link.machine.paths import config_home, state_home, write_private
from samedeal_link.machine.terminal import terminal
from samedeal_link.records.history_file import HistoryFile
from samedeal_link.records.past_races import PastRace
from tests.golden.golden_files import assert_answers

URL = "ws://localhost:7777"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.json"


def test_sessions_are_shown_as_the_page_says(tmp_path: Path) -> None:
    number = count()

    def answer(_: str, question: str) -> str:
        issuer, _, server = question.partition(" to ")
        path = tmp_path / str(next(number)) / "sessions.json"
        for session in ("old", "new"):
            FileSessions(path).keep(issuer, "ana", session)
        assert FileSessions(path).session(server, "bo") == MemorySessions().session(server, "ana") == ""
        return "shown" if FileSessions(path).session(server, "ana") == "new" else "not shown"

    assert_answers("sessions", answer)


def test_room_is_saved_with_its_session(path: Path) -> None:
    FileSessions(path).keep(URL, "ana", "secret", "friday")
    assert FileSessions(path).room(URL, "ana") == "friday"
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
    FileSessions(path).keep(URL, "ana", "new")
    assert FileSessions(path).room(URL, "ana") == ""


def test_user_without_a_home_has_directories_that_do_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert state_home() == Path("/nonexistent/.local/state/samedeal")


def test_newest_seat_is_offered(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, now = FileSessions(path), time.time()
    for age, name, room in ((2, "ana", "friday"), (1, "bo", "lunch"), (0, "mira", "")):
        monkeypatch.setattr("time.time", lambda age=age: now - age)
        sessions.keep(URL, name, "secret", room)
    seat = sessions.kept_seat()
    assert seat == KeptSeat(URL, "bo", "lunch")
    sessions.forget_seat(seat)
    assert sessions.kept_seat() == KeptSeat(URL, "ana", "friday")
    assert sessions.session(URL, "bo") == "secret"
    monkeypatch.setattr("time.time", lambda: now + SEAT_TIME)
    assert sessions.kept_seat() is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 1}', '{"version": 1, "sessions": {"x": 3}}', '{"version": 9, "sessions": {}}']
)
def test_file_that_cannot_be_read_is_renamed_with_a_warning(path: Path, text: str) -> None:
    write_private(path, text)
    sessions = FileSessions(path)
    assert sessions.session(URL, "ana") == ""
    (warning,) = terminal().unsaved.take_sentences()
    assert "sessions.json.unread" in warning
    sessions.keep(URL, "ana", "secret")
    assert path.with_name("sessions.json.unread").read_text() == text
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "ana") == "secret"
    assert terminal().unsaved.take_sentences() == []


def test_what_cannot_be_written_stays_in_memory() -> None:
    """It is written with the next thing that can be, and the player is told only once."""

    def write(name: str) -> None:
        FileSessions().keep(URL, name, name.upper(), "friday")
        with suppress(OSError):
            race = PastRace(game="willow", deal="#7", room="k7", starts=1, name=name, players=1, foundation_cards=0)
            HistoryFile().append(race)
        with suppress(OSError):
            save_settings(Settings(name=name))

    def read() -> tuple[object, ...]:
        sessions, history = FileSessions(), HistoryFile().read()
        return [sessions.session(URL, name) for name in ("ana", "bo")], load_settings().name, len(history.races)

    for path in (blocked := [state_home(), config_home()]):
        path.parent.mkdir(parents=True)
        path.write_text("not a directory")
    write("ana")
    (warning,) = terminal().unsaved.take_sentences()
    assert ("Cannot save" in warning, are_saved(), read()) == (True, False, (["ANA", ""], "ana", 1))
    for path in blocked:
        path.unlink()
    write("bo")
    terminal().unsaved.kept.clear()
    assert (are_saved(), read(), terminal().unsaved.take_sentences()) == (True, (["ANA", "BO"], "bo", 2), [])


def test_concurrent_writers_lose_no_session(path: Path) -> None:
    names = [f"p{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: FileSessions(path).keep(URL, name, name.upper()), names))
    assert [FileSessions(path).session(URL, name) for name in names] == [name.upper() for name in names]


def test_oldest_sessions_are_dropped(path: Path) -> None:
    many = {f"p{number}": {"session": "s", "used": number} for number in range(600)}
    write_private(path, json.dumps({"version": 1, "sessions": {URL: many}}))
    sessions = FileSessions(path)
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "p599") == "s"
    assert sessions.session(URL, "p100") == ""
    assert sessions.session(URL, "ana") == "secret"

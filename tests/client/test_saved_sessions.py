"""Saved sessions: lookup, privacy, damaged and unwritable files."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from samedeal_link.connection.kept_seat import KeptSeat
from samedeal_link.connection.saved_sessions import SEAT_TIME, FileSessions, MemorySessions
from samedeal_link.machine.paths import state_home, write_private
from tests.golden.golden_files import assert_answers

URL = "ws://localhost:7777"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.json"


def sessions_in(path: Path, warnings: list[str] | None = None) -> FileSessions:
    return FileSessions((warnings if warnings is not None else []).append, path)


def test_sessions_are_shown_as_the_page_says(tmp_path: Path) -> None:
    number = count()

    def answer(_: str, question: str) -> str:
        issuer, _, server = question.partition(" to ")
        path = tmp_path / str(next(number)) / "sessions.json"
        for session in ("old", "new"):
            sessions_in(path).keep(issuer, "ana", session)
        assert sessions_in(path).session(server, "bo") == MemorySessions().session(server, "ana") == ""
        return "shown" if sessions_in(path).session(server, "ana") == "new" else "not shown"

    assert_answers("sessions", answer)


def test_room_is_saved_with_its_session(path: Path) -> None:
    sessions_in(path).keep(URL, "ana", "secret", "friday")
    assert sessions_in(path).room(URL, "ana") == "friday"
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
    sessions_in(path).keep(URL, "ana", "new")
    assert sessions_in(path).room(URL, "ana") == ""


def test_newest_seat_is_offered(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, now = sessions_in(path), time.time()
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
    "text", ["", "{", "[]", '{"version": 1}', '{"version": 9, "sessions": {}}', '{"version": 1, "sessions": {"x": 3}}']
)
def test_damaged_file_is_renamed_with_a_warning(path: Path, text: str) -> None:
    write_private(path, text)
    warnings: list[str] = []
    sessions = sessions_in(path, warnings)
    assert sessions.session(URL, "ana") == ""
    assert len(warnings) == 1
    assert "sessions.json.damaged" in warnings[0]
    assert path.with_name("sessions.json.damaged").read_text() == text
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "ana") == "secret"
    assert len(warnings) == 1


def test_unwritable_file_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    warnings: list[str] = []
    sessions_in(tmp_path / "file" / "sessions.json", warnings).keep(URL, "ana", "secret")
    assert len(warnings) == 1
    assert "Cannot save" in warnings[0]


def test_concurrent_writers_lose_no_session(path: Path) -> None:
    names = [f"p{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: sessions_in(path).keep(URL, name, name.upper()), names))
    assert [sessions_in(path).session(URL, name) for name in names] == [name.upper() for name in names]


def test_oldest_sessions_are_dropped(path: Path) -> None:
    many = {f"p{number}": {"session": "s", "used": number} for number in range(600)}
    write_private(path, json.dumps({"version": 1, "sessions": {URL: many}}))
    sessions = sessions_in(path)
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "p599") == "s"
    assert sessions.session(URL, "p100") == ""
    assert sessions.session(URL, "ana") == "secret"


def test_path_follows_the_xdg_specification(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_home() == tmp_path / "samedeal"
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_home() == tmp_path / ".local" / "state" / "samedeal"

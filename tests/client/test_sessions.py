"""Sessions outlive the client, are for their owner's eyes only, and a damaged file costs no more than the seats in it."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from samedeal_client.net.sessions import BriefSessions, KeptSessions
from samedeal_client.places import state_home, write_private

URL = "ws://localhost:7777"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.json"


def kept(path: Path, warnings: list[str] | None = None) -> KeptSessions:
    return KeptSessions((warnings if warnings is not None else []).append, path)


def test_a_session_is_there_for_the_next_client(path: Path) -> None:
    kept(path).keep(URL, "ana", "secret")
    assert kept(path).session(URL, "ana") == "secret"


def test_sessions_are_kept_by_server_and_by_name(path: Path) -> None:
    sessions = kept(path)
    sessions.keep(URL, "ana", "a")
    sessions.keep(URL, "bo", "b")
    sessions.keep("wss://example.org", "ana", "c")
    assert [sessions.session(URL, "ana"), sessions.session(URL, "bo")] == ["a", "b"]
    assert sessions.session("wss://example.org", "ana") == "c"
    assert sessions.session("wss://example.org", "bo") == ""


def test_another_node_of_the_same_host_is_shown_the_session_and_no_other_host_is(path: Path) -> None:
    sessions = kept(path)
    sessions.keep(URL, "ana", "a")
    assert sessions.session("ws://localhost:7778", "ana") == "a"
    assert sessions.session("ws://localhost:7778", "bo") == ""
    assert sessions.session("ws://localhost.example.org:7777", "ana") == ""


def test_a_newer_session_takes_the_place_of_the_older(path: Path) -> None:
    kept(path).keep(URL, "ana", "old")
    kept(path).keep(URL, "ana", "new")
    assert kept(path).session(URL, "ana") == "new"


def test_nobody_else_can_read_them(path: Path) -> None:
    kept(path).keep(URL, "ana", "secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_file_is_no_complaint(path: Path) -> None:
    warnings: list[str] = []
    assert kept(path, warnings).session(URL, "ana") == ""
    assert warnings == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 1}', '{"version": 9, "sessions": {}}', '{"version": 1, "sessions": {"x": 3}}']
)
def test_a_damaged_file_is_set_aside_and_said_so(path: Path, text: str) -> None:
    write_private(path, text)
    warnings: list[str] = []
    sessions = kept(path, warnings)
    assert sessions.session(URL, "ana") == ""
    assert len(warnings) == 1
    assert "sessions.json.damaged" in warnings[0]
    assert path.with_name("sessions.json.damaged").read_text() == text
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "ana") == "secret"
    assert len(warnings) == 1


def test_where_nothing_can_be_kept_it_says_so_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    warnings: list[str] = []
    kept(tmp_path / "file" / "sessions.json", warnings).keep(URL, "ana", "secret")
    assert len(warnings) == 1
    assert "can't be kept" in warnings[0]


def test_clients_that_start_together_lose_none_of_each_others_sessions(path: Path) -> None:
    names = [f"p{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: kept(path).keep(URL, name, name.upper()), names))
    assert [kept(path).session(URL, name) for name in names] == [name.upper() for name in names]


def test_the_oldest_go_where_there_are_very_many(path: Path) -> None:
    many = {f"p{number}": {"session": "s", "used": number} for number in range(600)}
    write_private(path, json.dumps({"version": 1, "sessions": {URL: many}}))
    sessions = kept(path)
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "p599") == "s"
    assert sessions.session(URL, "p100") == ""
    assert sessions.session(URL, "ana") == "secret"


def test_the_place_follows_the_base_directory_specification(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_home() == tmp_path / "samedeal"
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_home() == tmp_path / ".local" / "state" / "samedeal"


def test_brief_sessions_are_gone_with_the_process() -> None:
    sessions = BriefSessions()
    sessions.keep(URL, "ana", "secret")
    assert sessions.session(URL, "ana") == "secret"
    assert BriefSessions().session(URL, "ana") == ""

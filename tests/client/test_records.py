"""Where records are kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from samedeal.record import Record
from samedeal_client.rooms.records import save_record
from tests.client.hands import won

PLAYERS = [f"player {number}" for number in range(8)]


def test_players_of_one_race_on_one_machine_have_a_file_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    records = [replace(won("willow"), player=player) for player in PLAYERS]
    with ThreadPoolExecutor(len(PLAYERS)) as at_once:
        paths = list(at_once.map(lambda record: save_record(record, "friday", 1_790_000_000_000), records))
    assert [Record.parse(path.read_text(encoding="utf-8")).player for path in paths] == PLAYERS
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}


def test_a_record_that_is_kept_already_is_not_kept_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    first, again = (save_record(won("willow"), "friday", 1_790_000_000_000) for _ in range(2))
    assert first == again

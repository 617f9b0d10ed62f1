"""Files of records."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from samedeal.record import Record
from samedeal_link.records.record_files import save_record
from tests.shared.playouts import won_record

PLAYERS = [f"player {number}" for number in range(8)]


def test_two_players_of_a_race_get_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    record = won_record("willow")
    records = [replace(record, players=(replace(record.players[0], name=player),)) for player in PLAYERS]
    with ThreadPoolExecutor(len(PLAYERS)) as at_once:
        paths = list(at_once.map(save_record, records))
    assert [Record.read(path.read_bytes()).players[0].name for path in paths] == PLAYERS
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}


def test_same_record_is_saved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    first, again = (save_record(won_record("willow")) for _ in range(2))
    assert first == again

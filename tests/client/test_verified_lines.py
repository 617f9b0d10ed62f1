"""The lines of ``samedeal verify`` about the deal of a record."""

from __future__ import annotations

import pytest

from samedeal.record import Record
from samedeal_client.views.records import verified_lines
from tests.golden.golden_files import HERE


@pytest.mark.parametrize(
    ("name", "heading", "drawn"),
    [
        ("joint", "Phoenix, winnable deal, ", "the server and 3 players "),
        ("medium", "Athena, medium winnable deal, ", "the server and 3 players "),
        ("daily", "Phoenix, deal daily 2026-11-21, ", "it follows from its name"),
    ],
)
def test_record_names_its_deal(name: str, heading: str, drawn: str) -> None:
    record = Record.parse((HERE / "race_records" / f"{name}.txt").read_text(encoding="utf-8"))
    first, *lines = verified_lines(record, (), deep=True)
    assert first.startswith(heading)
    assert [drawn in line for line in lines].count(True) == 1

"""The lines of ``samedeal verify`` about the deal of a record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from samedeal.record import Record
from samedeal_client.panels.records import verified_lines
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import Sealed
from tests.golden.golden_files import HERE


@pytest.mark.parametrize(
    ("name", "heading", "drawn"),
    [
        ("joint", "Phoenix, winnable deal, ", "by the server and 3 players together"),
        ("medium", "Athena, medium winnable deal, ", "by the server and 3 players together"),
        ("daily", "Phoenix, deal daily 2026-11-21, ", "The deal follows from its name"),
    ],
)
def test_record_names_its_deal(name: str, heading: str, drawn: str) -> None:
    record = Record.parse((HERE / "race_records" / f"{name}.txt").read_text(encoding="utf-8"))
    first, *lines = verified_lines(record, (), deep=True)
    assert first.startswith(heading)
    assert [drawn in line for line in lines].count(True) == 1
    assert not any(line.startswith("Not checked: ") for line in lines)


@pytest.mark.parametrize(
    ("comparison", "is_fair"),
    [
        (None, False),
        ((Evidence(), []), False),
        ((Evidence(draws=(Sealed(1, ()),)), ["Another move."]), False),
        ((Evidence(draws=(Sealed(1, ()),)), []), True),
    ],
)
def test_only_own_evidence_tells_that_nobody_chose_the_deal(
    comparison: tuple[Evidence, list[str]] | None, is_fair: bool
) -> None:
    record = Record.parse((HERE / "race_records" / "joint.txt").read_text(encoding="utf-8"))
    known = [comparison] if comparison is not None else []
    lines = verified_lines(record, known, deep=True)
    assert any(line.startswith("Nobody chose it") for line in lines) is is_fair
    assert any(line == "Draw 1: ben left and lost the seat." for line in lines)


def test_difficulty_of_another_solver_is_named_as_not_checked() -> None:
    record = Record.parse((HERE / "race_records" / "medium.txt").read_text(encoding="utf-8"))
    assert record.proof is not None
    proof = replace(record.proof, terms=record.proof.terms._replace(solver=2))
    lines = verified_lines(replace(record, proof=proof), (), deep=False)
    assert [line.startswith("Not checked: ") and "medium" in line for line in lines].count(True) == 1

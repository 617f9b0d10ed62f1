"""The lines of ``samedeal verify`` about the deal of a record."""

from __future__ import annotations

import pytest

from samedeal.record import Record
from samedeal_client.panels.records import verified_lines
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import Sealed
from samedeal_link.evidence.verdict import Verdict
from tests.golden.golden_files import HERE, assert_sentences


def record_of(name: str) -> Record:
    return Record.parse((HERE / "race_records" / f"{name}.txt").read_text(encoding="utf-8"))


def test_wording_of_verified_deals() -> None:
    lines = [
        (name, line) for name in ("joint", "medium", "daily") for line in verified_lines(record_of(name), (), deep=True)
    ]
    assert_sentences("verified records", [f"{name}\t{line}" for name, line in lines if line])


AGREES = Verdict("checked", "")
DIFFERS = Verdict("wrong", "", {"other_action": "Another move."})


@pytest.mark.parametrize("known", [[], [(Evidence(), AGREES)], [(Evidence(draws=(Sealed(1, ()),)), DIFFERS)]])
def test_only_whole_evidence_tells_that_nobody_chose_the_deal(known: list[tuple[Evidence, Verdict]]) -> None:
    lines = verified_lines(record_of("joint"), known, deep=True)
    assert not any(line.startswith("Nobody chose it") for line in lines)

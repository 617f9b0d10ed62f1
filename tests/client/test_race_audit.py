"""The audit of a finished race: its record, read twice, and the search for its deal, repeated by a real solver."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest

from samedeal.errors import RequestRefused
from samedeal.record import Record
from samedeal.solver.solve import Answer, Outcome
from samedeal_link.model.model import Model
from samedeal_link.session import race_audit
from samedeal_link.session.race_audit import Audit, audit_race
from samedeal_link.session.room_client import RoomClient
from samedeal_link.solving.solver_process import SolverProcess
from tests.client.referee import Referee
from tests.lies.worlds import PLANS, Client, hold


@cache
def raced() -> tuple[Client, Record]:
    """Ana after a fair race on a joint deal, and the server's record of it."""
    server = hold(PLANS["joint"], "1")
    record = server.record_for(None)
    assert record is not None
    return server.clients["ana"], record


class Recorded(RoomClient):
    """The requests of a client whose server answers with these records, or refuses with these codes."""

    def __init__(self, *answers: bytes | str) -> None:
        super().__init__(Referee())
        self.answers = list(answers)
        ana, _ = raced()
        self.link.witness.evidence = ana.seen.evidence
        self.model = Model(me=ana.player, name=ana.name, room=ana.seen.state)

    async def read_record(self, race: str, passphrase: str = "") -> bytes:
        """Return the next answer, or raise RequestRefused with the next code."""
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            raise RequestRefused.from_wire(answer, "No.", None)
        return answer


async def audited(*answers: bytes | str) -> tuple[Audit, RoomClient, list[str]]:
    """The audit of the race, whose answers are all used, and the words that tell its progress."""
    told: list[str] = []
    rooms = Recorded(*answers)
    audit = await audit_race(rooms, told.append)
    assert rooms.answers == []
    return audit, rooms, told


def text(record: Record) -> bytes:
    return str(record).encode()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.0, 0.0))


async def test_fair_race_is_checked_to_the_end() -> None:
    _, record = raced()
    audit, rooms, told = await audited("no_record", "unavailable", text(record), text(record))
    assert audit.verdict is not None
    assert (audit.verdict.kind, audit.verdict.rows, audit.reading.record) == ("fair", {}, record)
    assert record.proof is not None
    count = record.proof.candidate + 1
    assert told == [f"Checking the deal: {number} of {count}." for number in range(1, count + 1)]
    assert rooms.link.evidence is not None
    assert not rooms.link.evidence.found


@pytest.mark.parametrize(
    ("answers", "row"),
    [
        (("no_room",), "no_record"),
        (("no_record",) * 3, "no_record"),
        ((b"samedeal record 3\n\x1b[2J",), "bad_record"),
    ],
)
async def test_race_without_a_record_is_not_fair(answers: tuple[bytes | str, ...], row: str) -> None:
    audit, _, _ = await audited(*answers)
    assert audit.reading.record is None
    assert audit.verdict is not None
    assert list(audit.verdict.rows) == [row]
    assert audit.verdict.kind == ("wrong" if row == "bad_record" else "unsure")


async def test_record_that_changes_between_two_readings_is_wrong() -> None:
    _, record = raced()
    audit, rooms, _ = await audited(text(record), text(dataclasses.replace(record, end=record.end + 1)))
    assert audit.verdict is not None
    assert list(audit.verdict.rows) == ["changed_record"]
    assert audit.verdict.kind == "wrong"
    assert rooms.link.evidence is not None
    assert "changed_record" in rooms.link.evidence.found  # the file of the race has it too


async def test_search_that_cannot_be_repeated_is_not_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    async def die(*_: object) -> Answer:
        return Answer(Outcome.UNDECIDED, (), 0)

    monkeypatch.setattr(SolverProcess, "solve", die)
    _, record = raced()
    audit, _, _ = await audited(text(record), text(record))
    assert audit.verdict is not None
    assert (audit.verdict.kind, list(audit.verdict.rows)) == ("unsure", ["not_repeated"])


async def test_race_that_is_not_known_is_not_audited() -> None:
    assert await audit_race(RoomClient(Referee()), lambda _: None) == Audit()

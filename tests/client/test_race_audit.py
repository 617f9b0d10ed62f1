"""The audit of a finished race: its record, read twice, and the search for its deal, repeated by a real solver."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from msgspec.structs import replace as with_fields

from samedeal.errors import RequestRefused
from samedeal.protocol import messages
from samedeal.protocol.messages import Phase
from samedeal.record import Record
from samedeal.solver.solve import Answer, Outcome
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.observation import received
from samedeal_link.model.model import Model
from samedeal_link.session import race_audit
from samedeal_link.session.client_session import ClientSession
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
    """The requests of a client whose server answers with these records, or refuses with these codes.

    ``told`` are the words that tell the progress of the audit.
    """

    def __init__(self, *answers: bytes | str) -> None:
        super().__init__(Referee())
        self.answers = list(answers)
        self.told: list[str] = []
        ana, _ = raced()
        self.link.witness.evidence = ana.seen.evidence
        self.model = Model(me=ana.player, name=ana.name, room=ana.seen.state)

    async def read_record(self, race: str, passphrase: str = "") -> bytes:
        """Return the next answer, or raise RequestRefused with the next code."""
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            raise RequestRefused(answer, "No.", None)
        return answer


async def audited(rooms: Recorded) -> str:
    """The verdict on the race, whose answers are all used: its kind, and the rows of its table."""
    found = (await audit_race(rooms, rooms.told.append)).verdict
    assert rooms.answers == []
    return ": ".join([found.kind, *found.rows]) if found is not None else ""


def text(record: Record) -> bytes:
    return str(record).encode()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.0, 0.0))


async def test_fair_race_is_checked_to_the_end() -> None:
    _, record = raced()
    rooms = Recorded("no_record", "unavailable", text(record), text(record))
    assert await audited(rooms) == "fair"
    count = int(str(record.proof).partition("candidate: ")[2].split()[0]) + 1
    assert rooms.told == [f"Checking the deal: {number} of {count}." for number in range(1, count + 1)]
    assert not rooms.link.witness.evidence.found


def resealed(record: Record, old: str, new: str) -> bytes:
    """The text of a record with a change and a new digest."""
    lines = str(record).replace(old, new).partition("digest: ")[0]
    return f"{lines}digest: {hashlib.sha256(lines.encode()).hexdigest()}\n".encode()


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (lambda _: ["no_room"], "unsure: no_record"),
        (lambda _: ["no_record"] * 3, "unsure: no_record"),
        (lambda _: [b"samedeal record 3\n\x1b[2J"], "wrong: bad_record"),
        (lambda record: [text(record), text(replace(record, end=record.end + 1))], "unsure: changed_record"),
        (lambda record: [resealed(record, "samedeal record 3", "samedeal record 4")], "unsure: not_checkable"),
        (
            lambda record: [resealed(record, "proof: samedeal deal 5", "proof: samedeal deal 6")],
            "unsure: not_checkable",
        ),
    ],
)
async def test_record_that_proves_nothing_is_not_fair(
    answers: Callable[[Record], list[bytes | str]], verdict: str
) -> None:
    assert await audited(Recorded(*answers(raced()[1]))) == verdict


async def test_search_that_cannot_be_repeated_is_not_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    async def die(*_: object) -> Answer:
        return Answer(Outcome.UNDECIDED, (), 0)

    monkeypatch.setattr(SolverProcess, "solve", die)
    record = text(raced()[1])
    assert await audited(Recorded(record, record)) == "unsure: not_repeated"


async def test_race_that_is_not_known_is_not_audited() -> None:
    assert await audit_race(RoomClient(Referee()), lambda _: None) == Audit()


class Shown(Recorded):
    """A client that is shown more while it reads the record for the second time."""

    later: Evidence

    async def read_record(self, race: str, passphrase: str = "") -> bytes:
        """Return the record."""
        if len(self.answers) == 1:
            self.link.witness.evidence = self.later
        return await super().read_record(race, passphrase)


async def audited_while(later: Evidence) -> tuple[str, Evidence]:
    """The verdict on the race, and the evidence in the end. It is ``later`` before the audit is done."""
    record = text(raced()[1])
    rooms = Shown(record, record)
    rooms.later = later
    return await audited(rooms), rooms.link.witness.evidence


async def test_check_that_lasts_until_the_rematch_judges_its_own_race() -> None:
    trail = hold(PLANS["series"], "1").clients["ana"].trail
    rematch = next(seen.evidence for seen in trail if seen.evidence.phase == "countdown")
    assert await audited_while(rematch) == ("fair", rematch)


def other_counts() -> Evidence:
    """The evidence of the race, in which the end was shown again, with a move more."""
    ana, _ = raced()
    state = ana.seen.state
    assert state is not None
    lines = tuple(with_fields(line, moves=line.moves + 1) for line in state.standings)
    return received(ana.seen.evidence, with_fields(state, standings=lines), ana.seen.evidence.heard_at)


async def test_what_is_shown_during_the_check_changes_the_verdict() -> None:
    verdict, evidence = await audited_while(other_counts())
    assert verdict == "wrong: other_results"
    assert "other_results" in evidence.found


@pytest.mark.parametrize("phase", ["finished", "closed"])
async def test_what_is_shown_after_the_verdict_changes_it(phase: Phase) -> None:
    """Spectators get the newest boards only then."""
    _, record = raced()
    session = ClientSession(Referee())
    session.rooms = Recorded(text(record), text(record))
    session.link = session.rooms.link
    session._audit_finished_race()
    audit = await session.audit()
    assert audit.verdict is not None
    assert audit.verdict.kind == "fair"
    assert session.model.room is not None
    session.rooms.model = replace(session.model, room=with_fields(session.model.room, phase=phase))
    board = messages.DelayedBoard(player="p-bob", revision=1, piles=(b"",), moves=1, undos=0, time=1)
    session.link.witness.evidence = received(session.link.witness.evidence, board, 0)
    session._audit_finished_race()  # as after each event
    assert session.model.verdict is not None
    assert list(session.model.verdict.rows) == ["other_watched"]
    assert (await session.audit()).verdict == session.model.verdict

"""The audit of a finished race: its record, and the search for its deal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.errors import RequestRefused
from samedeal.joint_deal import won_candidates
from samedeal.protocol.messages import Standing
from samedeal.record import Record
from samedeal.solver.solve import Answer, Outcome
from samedeal_client.net import race_audit
from samedeal_client.net.race_audit import Audit, audit_race
from samedeal_client.net.room_client import RoomClient
from samedeal_client.solver_worker import SolverProcess
from samedeal_client.state.deal_check import DealCheck, DealVerification, Verdict
from samedeal_client.state.draws import OwnDraws
from samedeal_client.state.model import Model
from tests.client.drawn_races import JOINT, LAST, SEATS, drawn
from tests.client.race_server import START
from tests.client.referee import Referee

LATER = next(won_candidates(JOINT.mixed, JOINT.terms.game, JOINT.terms.budget, count(JOINT.candidate + 1)))
LATE = dataclasses.replace(JOINT, candidate=LATER.number, line=LATER.line)


def finished(**changes: Any) -> Model:
    """Ana's model after a race on a joint deal. The other players have left before the start."""
    model = drawn(seats=SEATS[:1], **{"draws": OwnDraws((LAST,)), **changes})
    assert model.room is not None
    assert model.own.play is not None
    cards = model.own.play.board.foundation_cards
    standing = Standing(place=1, player="ana", name="ana", foundation_cards=cards, time=0, moves=1, undos=0)
    room = replace(model.room, standings=(standing,), finished_at=START + 60_000)
    return dataclasses.replace(model, room=room)


def record_of(model: Model) -> Record:
    """The record that an honest server gives."""
    record = model.record()
    assert record is not None
    return record


class Recorded(RoomClient):
    """The requests of a client whose server answers with these records, or refuses with these codes."""

    def __init__(self, model: Model, *answers: bytes | str) -> None:
        super().__init__(Referee())
        self.model = model
        self._answers = list(answers)

    async def read_record(self, race: str, passphrase: str = "") -> bytes:
        """Return the next answer, or raise RequestRefused with the next code."""
        answer = self._answers.pop(0)
        if isinstance(answer, str):
            raise RequestRefused.from_wire(answer, "No", None)
        return answer


async def audited(model: Model, *answers: bytes | str) -> tuple[Audit, list[str]]:
    """The audit of a race, and the sentences that tell its progress."""
    told: list[DealVerification] = []
    audit = await audit_race(Recorded(model, *answers), told.append)
    assert all(each.verdict is Verdict.CHECKING for each in told)
    return audit, [each.sentence for each in told]


def check_of(audit: Audit) -> DealCheck:
    assert audit.verification is not None
    return audit.verification.check


def text(record: Record) -> bytes:
    return str(record).encode()


async def test_fair_race_is_checked_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.0, 0.0))
    model = finished()
    record = record_of(model)
    audit, told = await audited(model, "no_record", "unavailable", text(record))
    assert (check_of(audit), audit.record) == (DealCheck.PROOF_AND_CARDS, record)
    assert told == [f"Checking the deal: {number} of 3." for number in (1, 2, 3)]


async def test_later_candidate_is_not_fair() -> None:
    model = finished(proof=LATE, board=LATE.board())
    audit, _ = await audited(model, text(record_of(model)))
    assert check_of(audit) is DealCheck.NOT_FIRST


@pytest.mark.parametrize("codes", [("no_room",), ("no_record", "no_record", "no_record")])
async def test_race_without_a_record_is_not_called_fair(
    codes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race_audit, "RECORD_DELAYS", (0.0, 0.0))
    audit, told = await audited(finished(), *codes)
    assert (check_of(audit), audit.record) == (DealCheck.NO_RECORD, None)
    assert told  # the search is repeated nevertheless


def with_player(record: Record, **changes: Any) -> Record:
    return dataclasses.replace(record, players=(dataclasses.replace(record.players[0], **changes),))


@pytest.mark.parametrize(
    ("lie", "check"),
    [
        (lambda record: b"nothing", DealCheck.BAD_RECORD),
        (lambda record: text(with_player(record, foundation_cards=9)), DealCheck.BAD_RECORD),
        (lambda record: text(with_player(record, actions=(*record.actions, (9_000, "1 1")))), DealCheck.BAD_RECORD),
        (lambda record: text(dataclasses.replace(record, proof=None, seed=bytes(32))), DealCheck.BAD_RECORD),
        (lambda record: text(with_player(record, actions=((9, record.actions[0][1]),))), DealCheck.OTHER_RECORD),
        (
            lambda record: text(dataclasses.replace(record, terms=record.terms._replace(limit=800))),
            DealCheck.OTHER_RECORD,
        ),
        (lambda record: text(with_player(record, name="Zo\u00eb Q", seat=2)), DealCheck.OTHER_RECORD),
        (lambda record: text(dataclasses.replace(record, proof=dataclasses.replace(LATE))), DealCheck.BAD_RECORD),
        (lambda record: text(dataclasses.replace(record, entrants=2)), DealCheck.OTHER_RECORD),
    ],
)
async def test_record_that_lies_is_found(lie: Callable[[Record], bytes], check: DealCheck) -> None:
    model = finished()
    audit, _ = await audited(model, lie(record_of(model)))
    assert (check_of(audit), audit.record) == (check, None)


async def test_wrong_deal_stays_wrong_whatever_the_record_says() -> None:
    model = finished(draws=OwnDraws((dataclasses.replace(LAST, share=bytes(32)),)))
    audit, told = await audited(model, text(record_of(model)))
    assert (check_of(audit), told) == (DealCheck.BROKEN_DRAW, [])


async def test_search_that_cannot_be_repeated_is_not_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    async def die(*_: object) -> Answer:
        return Answer(Outcome.UNDECIDED, (), 0)

    monkeypatch.setattr(SolverProcess, "solve", die)
    model = finished()
    audit, _ = await audited(model, text(record_of(model)))
    assert check_of(audit) is DealCheck.NOT_REPEATED


async def test_race_that_is_not_over_is_not_audited() -> None:
    audit, told = await audited(Model("ana", "ana"))
    assert (audit, told) == (Audit(None), [])

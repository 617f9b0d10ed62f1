"""The audit of a finished race: read its record, repeat the search for its deal, and judge it by the evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from samedeal.deal_proof import DealProof
from samedeal.errors import BadRecord, OtherVersion, RequestRefused, SamedealError
from samedeal.joint_deal import candidate_board
from samedeal.protocol_codes import RefusalCode
from samedeal.record import Record
from samedeal.solver.solve import Answer
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import NO_READING, RaceReading, Verdict, verdict
from samedeal_link.session.room_client import RoomClient
from samedeal_link.solving.solver_process import SolverProcess

RECORD_DELAYS: Final = (0.2, 0.4, 0.8, 1.6, 3.2)
"""Times, in seconds, between requests for the record of a race that has just ended.

The server may still be writing the record.
"""

_RETRIED: Final = (RefusalCode.NO_RECORD, RefusalCode.UNAVAILABLE, ClientCode.UNANSWERED)


@dataclass(frozen=True)
class Audit:
    """The result of an audit: the verdict on the race, and what was read for it. Outside a finished race it is empty."""

    verdict: Verdict | None = None
    reading: RaceReading = NO_READING


async def audit_race(
    rooms: RoomClient, on_progress: Callable[[str], None], on_record: Callable[[Record], None] = lambda _: None
) -> Audit:
    """Judge the finished race in the room of ``rooms``.

    ``on_record`` is called with the server's record once it is read, and then ``on_progress`` with words that say how far
    the search for the deal has been repeated.
    """
    room, evidence = rooms.model.room, rooms.link.evidence
    if room is None or evidence is None:
        return Audit()
    given_up = await asyncio.to_thread(rooms.link.witness.given_up)  # before a rematch is drawn
    reading = await _read(rooms, room.room, RECORD_DELAYS)
    if reading.record is not None:
        on_record(reading.record)
        if reading.record.proof is not None:
            reading = replace(reading, answers=await _repeat_search(reading.record.proof, on_progress))
        again = await _read(rooms, room.room, ())
        reading = replace(reading, second=again.record.digest if again.record else b"")
    reading = replace(reading, given_up=given_up)
    await asyncio.to_thread(verdict, evidence, reading)  # it plays all moves, which ``judged`` then need not do
    return Audit(judged(rooms, evidence, reading), reading)


def judged(rooms: RoomClient, evidence: Evidence, reading: RaceReading) -> Verdict:
    """Judge a race by its newest evidence. If it is not fair, that evidence gets the rows, so that its file has them."""
    witness = rooms.link.witness
    if not is_same_race(witness.evidence, evidence):
        return verdict(evidence, reading)
    found = verdict(witness.evidence, reading)
    witness.finds({row: detail for row, detail in found.rows.items() if found.kind == "wrong"})
    return found


def is_same_race(one: Evidence, other: Evidence) -> bool:
    """Return whether two evidences are about the same race."""
    return (one.room, one.commitment, one.terms_text, one.start) == (
        *(other.room, other.commitment, other.terms_text, other.start),
    )


async def _read(rooms: RoomClient, room: str, delays: Sequence[float]) -> RaceReading:
    """Return the server's record of the newest race in a room, or why there is none."""
    for delay in (*delays, 0.0):
        try:
            data = await rooms.read_record(room, rooms.passphrase)
            return RaceReading(await asyncio.to_thread(Record.read, data))
        except OtherVersion as error:
            return RaceReading(fault=("not_checkable", str(error)))
        except BadRecord as error:
            return RaceReading(fault=("bad_record", str(error)))
        except RequestRefused as refused:
            if refused.code not in _RETRIED:
                return RaceReading(fault=("no_record", str(refused)))
        await asyncio.sleep(delay)
    return RaceReading(fault=("no_record", "The server has kept none."))


async def _repeat_search(proof: DealProof, on_progress: Callable[[str], None]) -> tuple[Answer, ...] | None:
    """Return what the solver says about all candidates up to the dealt one, or None if this machine cannot say."""
    answers: list[Answer] = []
    try:
        proof.check_limits()
        async with SolverProcess() as solver:
            for number in range(proof.candidate + 1):
                on_progress(f"Checking the deal: {number + 1} of {proof.candidate + 1}.")
                board = candidate_board(proof.mixed, number, proof.terms.game)
                answers.append(await solver.solve(board, proof.terms.budget))
                if not answers[-1].states:  # the worker died
                    return None
    except (SamedealError, OSError):
        return None
    return tuple(answers)

"""The audit of a finished race: fetch its record, and repeat the search for its deal.

``state.deal_verification`` checks what a client knows at once. The audit checks the rest, which takes some seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from samedeal.deal_proof import DealProof
from samedeal.errors import BadRecord, DealNotCheckable, DealNotProven, RequestRefused
from samedeal.joint_deal import candidate_board
from samedeal.protocol_codes import RefusalCode
from samedeal.record import Record
from samedeal_client.net.client_error_codes import ClientCode
from samedeal_client.net.room_client import RoomClient
from samedeal_client.solver_worker import SolverProcess
from samedeal_client.state.deal_check import DealCheck, DealVerification, Verdict
from samedeal_client.state.deal_verification import check_deal, check_record
from samedeal_client.state.model import Model

RECORD_DELAYS: Final = (0.2, 0.4, 0.8, 1.6, 3.2)
"""Times, in seconds, between requests for the record of a race that has just ended.

The server may still be writing the record.
"""


_RETRIED: Final = (RefusalCode.NO_RECORD, RefusalCode.UNAVAILABLE, ClientCode.UNANSWERED)


@dataclass(frozen=True)
class Audit:
    """The result of an audit. ``record`` is the server's record of the whole race, or None if it gave none."""

    verification: DealVerification | None
    record: Record | None = None


async def audit_race(rooms: RoomClient, on_progress: Callable[[DealVerification], None]) -> Audit:
    """Verify the finished race in the room of ``rooms``: its deal, its record, and the search for its deal.

    ``on_progress`` is called with a verification that says how far the search has been repeated.
    """
    model = rooms.model
    known = check_deal(model)
    if model.room is None or known is None:
        return Audit(known)
    try:
        record = await _read_record(rooms, model.room.room)
    except BadRecord as error:
        return Audit(_worse(known, DealVerification(DealCheck.BAD_RECORD, str(error))))
    found: DealVerification | None = DealVerification(DealCheck.NO_RECORD)
    if record is not None:
        found = await asyncio.to_thread(check_record, model, record, rooms.link.journals.journal_of(model))
        if found is not None:
            return Audit(_worse(known, found))
    if known.verdict is Verdict.WRONG:
        return Audit(known, record)
    searched = await _repeat_search(model, on_progress)
    return Audit(_worse(_worse(known, found), searched), record)


def _worse(known: DealVerification, found: DealVerification | None) -> DealVerification:
    """Return the worse of two verifications. If they are equally bad, return the first one."""
    order = (Verdict.FAIR, Verdict.CHECKING, Verdict.UNSURE, Verdict.WRONG)
    return known if found is None or order.index(known.verdict) >= order.index(found.verdict) else found


async def _read_record(rooms: RoomClient, room: str) -> Record | None:
    """Return the server's record of the newest race in a room, or None if the server gives none.

    Raise BadRecord if it is not a record.
    """
    for delay in (*RECORD_DELAYS, 0.0):
        try:
            data = await rooms.read_record(room, rooms.passphrase)
        except RequestRefused as refused:
            if refused.code not in _RETRIED:
                return None
        else:
            return await asyncio.to_thread(Record.read, data)
        await asyncio.sleep(delay)
    return None


async def _repeat_search(model: Model, on_progress: Callable[[DealVerification], None]) -> DealVerification | None:
    """Repeat the search for a joint or daily deal. Return what is wrong or unknown, or None."""
    if model.room is None or not model.room.proof:
        return None
    proof = DealProof.parse(model.room.proof)
    try:
        proof.check_limits()
        async with SolverProcess() as solver:
            for number in range(proof.candidate + 1):
                on_progress(DealVerification(DealCheck.CHECKING, f": {number + 1} of {proof.candidate + 1}."))
                board = candidate_board(proof.mixed, number, proof.terms.game)
                answer = await solver.solve(board, proof.terms.budget)
                if not answer.states:  # the worker died
                    return DealVerification(DealCheck.NOT_REPEATED)
                proof.check_candidate(number, answer)
    except DealNotCheckable as error:
        return DealVerification(DealCheck.NOT_CHECKABLE, str(error))
    except DealNotProven as error:
        return DealVerification(DealCheck.NOT_FIRST, str(error))
    except OSError:
        return DealVerification(DealCheck.NOT_REPEATED)
    return None

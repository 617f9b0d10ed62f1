"""A session: connection status, messages, subscribers, play to the foundations."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.protocol.messages import DeclareStuck, Join, Refused
from samedeal.protocol_codes import RefusalCode
from samedeal_link.session.client_session import ClientSession
from tests.client.boards import board
from tests.client.referee import Referee, session_in, wait_until


def client_of(referee: Referee) -> AbstractAsyncContextManager[ClientSession]:
    """A running session with a seat in the referee's room."""
    return session_in(referee.room, referee, referee.answer_requests())


def athena(text: str) -> Referee:
    return Referee("athena", board=board("athena", text))


@pytest.mark.parametrize(
    ("options", "declares"),
    [(Options(undo="off"), True), (Options(undo="free"), False), (Options(undo="off", end_when_settled=False), False)],
)
async def test_proven_dead_end_is_declared_once(options: Options, declares: bool) -> None:
    referee = Referee(board=board("willow", "1: AH 9S | 2: 9C | 3: 9H 9D | 4: KS | 5: KC | 6: KH QH"), options=options)
    async with client_of(referee) as client:
        client.act("3 7")
        await wait_until(lambda: not client.model.own.pending)
        while client.is_proving:  # noqa: ASYNC110 (the proof runs in a thread)
            await asyncio.sleep(0.001)
        await wait_until(lambda: not referee.has_unanswered)
        assert [type(request) for request in referee.requests].count(DeclareStuck) == declares
        assert client.model.seat is not None
        assert client.model.seat.stuck == declares


async def test_refused_room_is_not_entered() -> None:
    referee = Referee()
    async with client_of(referee) as client:
        referee.refusals[Join] = Refused(to=0, code=RefusalCode.ROOM_FULL, message="This room is full")
        with pytest.raises(RequestRefused):
            await client.join("other")
        assert not client.entering

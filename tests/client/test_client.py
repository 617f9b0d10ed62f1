"""A client but for its face: how the connection fares, what is said, who is called."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from samedeal.errors import PlayError, Refused
from samedeal.protocol.messages import Act, Notice, Ping
from samedeal_client.net.client import Client, Connection, Said, next_up
from samedeal_client.net.link import Connected, Ended, Lost, Unseated
from tests.client.boards import board
from tests.client.referee import Referee


@contextlib.asynccontextmanager
async def client_of(referee: Referee) -> AsyncIterator[Client]:
    """A client with a seat at the referee's table, running."""
    client = Client(referee, clock=lambda: 100.0)
    tasks = [asyncio.create_task(referee.judge()), asyncio.create_task(client.run())]
    try:
        await client.join(referee.room)
        await until(lambda: client.model.board is not None)
        yield client
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(holds: Callable[[], object]) -> None:
    """Wait for what needs nothing but turns of the loop."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0)
    pytest.fail("it does not come about")


def athena(text: str) -> Referee:
    return Referee("athena", board=board("athena", text))


async def test_the_connection_is_told_as_it_fares() -> None:
    referee = Referee()
    async with client_of(referee) as client:
        await until(lambda: client.connection.ping is not None)
        assert client.connection == Connection("up", ping=0)
        await referee._news.put(Lost("The connection was cut", 2.5))
        await until(lambda: client.connection.state == "lost")
        assert (client.connection.reason, client.retry_in()) == ("The connection was cut", 2.5)
        await referee._news.put(Connected(again=True))
        await until(lambda: client.connection.state == "up")
        await referee._news.put(Ended("4002", "Gone elsewhere"))
        await until(lambda: client.connection.state == "ended")
        assert client.connection.reason == "Gone elsewhere"


async def test_run_tells_why_it_ended() -> None:
    referee = Referee()
    client = Client(referee)
    await referee._news.put(Ended("4002", "Gone elsewhere"))
    assert await client.run() == Ended("4002", "Gone elsewhere")


async def test_subscribers_are_called_until_they_leave() -> None:
    referee = Referee()
    async with client_of(referee) as client:
        calls: list[int] = []
        leave = client.subscribe(lambda: calls.append(client.model.next_revision))
        moves = client.model.board.legal_moves() if client.model.board else []
        client.act(moves[0])
        assert calls == [1]
        await until(lambda: not client.model.pending)
        count = len(calls)
        leave()
        client.act(moves[1])
        assert len(calls) == count


async def test_what_is_to_be_said_waits_until_it_is_taken() -> None:
    referee = Referee()
    async with client_of(referee) as client:
        referee.refuse = "Not now"
        assert client.model.board is not None
        client.act(client.model.board.legal_moves()[0])
        await until(lambda: not client.model.pending)
        await referee.tell(Notice(code="draining", message="This server is stopping"))
        await until(referee._news.empty)
        await asyncio.sleep(0)
        assert client.take_said() == [Said("refusal", "Not now"), Said("notice", "This server is stopping")]
        assert client.take_said() == []


async def test_who_lost_the_seat_is_in_no_room() -> None:
    referee = Referee()
    async with client_of(referee) as client:
        await referee._news.put(Unseated("room_closed", "This room is closed"))
        await until(lambda: client.model.room is None)
        assert client.take_said() == [Said("unseated", "This room is closed")]


async def test_everything_goes_up_and_waits_for_what_it_turns_up() -> None:
    referee = athena("1: [2H] AH | 2: [3H] KC | 3: AS | w: 2S")
    async with client_of(referee) as client:
        referee.hold()
        assert client.raise_all() == 1
        assert client.model.unsettled
        referee.release()
        await until(lambda: not client.model.pending and not client._raising)
        assert client.model.board is not None
        assert client.model.board.cards_up == 4
        assert next_up(client.model) is None


async def test_a_refusal_ends_what_goes_up() -> None:
    referee = athena("1: [2H] AH | 3: AS")
    async with client_of(referee) as client:
        referee.refuse = "Not now"
        client.raise_all()
        await until(lambda: not client.model.pending)
        await asyncio.sleep(0)
        assert client.model.board is not None
        assert client.model.board.cards_up == 0
        assert [asked.action for asked in referee.asked if isinstance(asked, Act)] == ["1 0"]


async def test_a_move_of_the_player_ends_what_goes_up() -> None:
    referee = athena("1: [2H] AH | 3: AS | 4: KC | 5: QD")
    async with client_of(referee) as client:
        referee.hold()
        client.raise_all()
        client.act("5 4")
        referee.release()
        await until(lambda: not client.model.pending)
        acts = [asked.action for asked in referee.asked if isinstance(asked, Act)]
        assert acts == ["1 0", "5 4"]


async def test_a_move_that_is_known_to_be_illegal_raises() -> None:
    async with client_of(Referee()) as client:
        with pytest.raises(PlayError):
            client.act("1 1")


async def test_a_room_that_is_refused_is_not_entered() -> None:
    referee = Referee()
    async with client_of(referee) as client:

        async def refuse(_: object) -> None:
            raise Refused("room_full", "This room is full")

        referee.request = refuse  # type: ignore[assignment,method-assign]
        with pytest.raises(Refused):
            await client.join("other")
        assert not client.entering


async def test_the_round_trip_is_measured_again_after_a_cut() -> None:
    referee = Referee()
    async with client_of(referee) as client:
        await until(lambda: client.connection.ping is not None)
        await referee._news.put(Lost("cut", 0.1))
        await until(lambda: client.connection.state == "lost")
        assert client.connection.ping is None
        assert sum(isinstance(asked, Ping) for asked in referee.asked) == 1

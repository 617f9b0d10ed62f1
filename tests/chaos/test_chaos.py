"""A short round of chaos; ``make chaos`` plays long ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_args

import pytest

from samedeal.games import GAMES
from tests.chaos.plan import FAULT_KINDS, PROCESS_FAULTS, Habit, make_plan
from tests.chaos.proxy import ProxiedConnection, Proxy
from tests.chaos.rounds import play_round, winning_records
from tests.server.client import DEADLINE
from tests.server.local_server import Serve, local_server
from tests.server.waiting import until

DEALS = {game: str(record.deal) for game, record in winning_records().items()}


async def test_promises_hold_while_everything_fails() -> None:
    plan = make_plan(149, 1, DEALS, small=True, kinds=PROCESS_FAULTS)
    outcome = await play_round(plan)
    assert not outcome.violations, f"{plan}\n" + "\n".join(outcome.violations)
    assert outcome.acked > 50, outcome
    assert outcome.outages, outcome


def test_plans_have_every_kind_of_fault_and_room() -> None:
    plans = [make_plan(3, number, DEALS) for number in range(200)]
    assert {fault.kind for plan in plans for fault in plan.faults} == set(FAULT_KINDS)
    rooms = [room for plan in plans for room in plan.rooms]
    assert {room.options.series for room in rooms} == {1, 2}
    assert {bool(room.passphrase) for room in rooms} == {room.reused for room in rooms} == {True, False}
    assert {room.options.games for room in rooms} == {(game,) for game in GAMES}
    assert {"winnable", "daily", "random"} < {room.options.deal for room in rooms}
    assert {habit for room in rooms for habit in room.habits} == set(get_args(Habit))
    assert all(room.options.deal == "winnable" for room in rooms if room.habits)
    assert all(len(room.habits) <= room.options.players - max(1, room.links) for room in rooms if room.habits)


def test_same_seed_gives_the_same_plan() -> None:
    assert str(make_plan(3, 4, DEALS)) == str(make_plan(3, 4, DEALS))
    assert str(make_plan(3, 4, DEALS)) != str(make_plan(3, 5, DEALS))
    assert str(make_plan(3, 4, DEALS)) != str(make_plan(4, 4, DEALS))


async def echoing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(100))
    await reader.read(100)
    ProxiedConnection([writer]).reset()


@asynccontextmanager
async def through(serve: Serve = echoing) -> AsyncIterator[tuple[Proxy, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection through a proxy to a server."""
    async with local_server(serve) as port, Proxy(lambda: [("127.0.0.1", 1), ("127.0.0.1", port)]) as proxy:
        async with asyncio.timeout(DEADLINE):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"hello"
            yield proxy, reader, writer
            writer.close()


async def test_proxy_forwards_a_reset() -> None:
    """A killed node resets its connections, and even a silent client must learn of it."""
    async with through(resetting) as (_, reader, writer):
        writer.write(b"reset")
        with pytest.raises(ConnectionResetError):
            await reader.read()


async def test_proxy_closes_and_resets() -> None:
    async with through() as (proxy, reader, _):
        proxy.connections[0].close()
        assert await reader.read() == b""
    async with through() as (proxy, reader, _):
        proxy.connections[0].reset()
        with pytest.raises(ConnectionResetError):
            await reader.read()


async def test_proxy_drops_answers_but_forwards_requests() -> None:
    asked: list[bytes] = []

    async def noting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            asked.append(data)
            writer.write(data)
        writer.close()

    async with through(noting) as (proxy, reader, writer):
        proxy.connections[0].drop_answers(DEADLINE)
        writer.write(b"lost")
        await until(lambda: asked == [b"hello", b"lost"])
        proxy.connections[0].drop_answers(0)  # when the time is over, the connection is reset
        with pytest.raises(ConnectionResetError):
            await reader.read()

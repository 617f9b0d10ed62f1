"""Whose deal is searched next, and the end of searches that nobody waits for."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.protocol.messages import Done, Leave, Start
from samedeal_server.solving.pool import SolverPool, WorkerHealth
from samedeal_server.solving.turns import Turns
from samedeal_server.solving.worker import Candidate, winning_line
from samedeal_server.telemetry.metrics import Metrics
from tests.server.client import DEADLINE
from tests.server.live_nodes import NodeMaker
from tests.server.races import seated
from tests.shared.joint_deals import joint_deal

LONG = Candidate(bytes(32), "steve", 100_000_000, 0)
"""A candidate whose search does not end by itself while a test runs."""


def taken(*waiting: str) -> list[str]:
    """The order in which items get their turns. An item such as ``a/1`` is that of a room of an origin."""
    turns: Turns[str] = Turns()
    for item in waiting:
        origin, room = item.split("/")
        turns.add(origin, room, item)
    order = []
    while turns:
        order.append(turns.next())
    return order


def test_origins_and_their_rooms_take_turns() -> None:
    assert taken(*["a/1", "a/2", "a/3", "b/4"]) == ["a/1", "b/4", "a/2", "a/3"]
    assert taken(*["a/1", "a/1", "a/2", "b/3", "b/3", "c/4"]) == ["a/1", "b/3", "c/4", "a/2", "b/3", "a/1"]
    assert (taken("a/1"), taken()) == (["a/1"], [])


items = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("123")), max_size=40)


@given(items, st.sampled_from("123"))
def test_newcomer_waits_for_one_turn_of_each_origin(before: list[tuple[str, str]], room: str) -> None:
    order = taken(*(f"{origin}/{each}" for origin, each in before), f"new/{room}")
    ahead = Counter(item.partition("/")[0] for item in order[: order.index(f"new/{room}")])
    assert all(count == 1 for count in ahead.values())
    assert Counter(order) == Counter([*(f"{origin}/{each}" for origin, each in before), f"new/{room}"])


def test_discarded_item_gets_no_turn() -> None:
    turns: Turns[str] = Turns()
    for item in ("a/1", "a/2", "b/1"):
        origin, room = item.split("/")
        turns.add(origin, room, item)
    turns.discard("a", "1", "a/1")
    turns.discard("a", "1", "a/1")
    turns.discard("z", "1", "a/1")
    assert [turns.next(), turns.next(), bool(turns)] == ["a/2", "b/1", False]


async def test_stranger_is_next_although_many_rooms_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    pool = SolverPool(WorkerHealth(Metrics()))
    quick = Candidate(bytes(32), "ace-of-hearts", 1, 0)
    crowd = [asyncio.create_task(pool.solve(quick, "crowd", f"room-{number}")) for number in range(20)]
    await asyncio.sleep(0)
    await pool.solve(quick, "stranger", "friday")
    assert sum(each.done() for each in crowd) <= 2
    await asyncio.gather(*crowd)
    await pool.close()


async def test_cancelled_search_frees_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    pool, proof = SolverPool(WorkerHealth(Metrics())), joint_deal("ace-of-hearts")
    candidate = Candidate(proof.mixed, "ace-of-hearts", proof.terms.budget, proof.candidate)
    running = asyncio.create_task(pool.solve(LONG, "a", "1"))
    waiting = asyncio.create_task(pool.solve(LONG, "a", "2"))
    await asyncio.sleep(0)
    next_one = asyncio.create_task(pool.solve(candidate, "b", "3"))
    await asyncio.sleep(0)
    for task in (waiting, running):
        task.cancel()
    async with asyncio.timeout(DEADLINE):
        assert await next_one == winning_line(candidate)
    await asyncio.gather(running, waiting, return_exceptions=True)
    await pool.close()


async def test_search_ends_when_all_players_have_left(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def solve(*_: object) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    monkeypatch.setattr(SolverPool, "solve", solve)
    one = await node()
    (ana,) = await seated(one, names=["ana"], games=("ace-of-hearts",), deal="winnable")
    await ana.expect(Done, Start)
    await ana.phase("countdown")
    await ana.take_part()
    async with asyncio.timeout(DEADLINE):
        await started.wait()
        await ana.expect(Done, Leave)
        await ended.wait()

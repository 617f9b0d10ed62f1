"""Duties of rooms: one node does each of them, and whatever happens to that node, nothing is lost or done twice."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from samedeal.protocol.messages import Done, Resign, Start
from samedeal_server.races.earlier import PlayerPast
from samedeal_server.rooms.duties import RENEWAL_INTERVAL
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate, winning_line
from samedeal_server.store import keys
from samedeal_server.store.store import LEASE
from tests.server.client import Client
from tests.server.live_nodes import Node, RedisClient
from tests.server.manual_timers import ManualTimers
from tests.server.races import race, seated
from tests.server.waiting import until

GAME = "ace-of-hearts"


async def drawn(one: Node, two: Node) -> tuple[Client, ...]:
    """Begin a race between ana on one node and bob on the other, and reveal all shares of its joint deal."""
    players = await seated(one, two, games=(GAME,), deal="winnable", limit=3_600)
    await players[0].expect(Done, Start)
    for player in players:
        await player.phase("countdown")
    await asyncio.gather(*(player.take_part() for player in players))
    return players


class HeldSolver:
    """Tries candidates for all nodes, and answers only once it is released. ``stopped`` counts cancelled searches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tried: list[Candidate] = []
        self.stopped = 0
        self._released = asyncio.Event()
        monkeypatch.setattr(SolverPool, "solve", self._try)

    async def _try(self, candidate: Candidate, *_turn: str) -> str:
        self.tried.append(candidate)
        try:
            await self._released.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return await asyncio.to_thread(winning_line, candidate)

    async def begun(self) -> None:
        """Wait until a candidate is tried."""
        await until(lambda: self.tried)

    def release(self) -> None:
        """Search like any solver from now on."""
        self._released.set()


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> HeldSolver:
    return HeldSolver(monkeypatch)


@pytest.fixture
def renewals(one: Node, two: Node) -> ManualTimers:
    """The timers of both nodes for renewing their leases."""
    timers = ManualTimers()
    for node in (one, two):
        node.rooms.duties.timers = timers
    return timers


async def is_free(redis: RedisClient, lease: str) -> bool:
    return not await redis.exists(lease)


@pytest.mark.parametrize("how", ["deleted", "taken"])
async def test_node_without_its_lease_stops_at_once(
    one: Node, two: Node, redis: RedisClient, solver: HeldSolver, renewals: ManualTimers, how: str
) -> None:
    ana, bob = await drawn(one, two)
    await solver.begun()
    lease = keys.duty(ana.room)
    if how == "deleted":
        await redis.delete(lease)
    else:
        await redis.set(lease, "another node", px=LEASE)
    renewals.advance(RENEWAL_INTERVAL)
    await until(lambda: solver.stopped)
    assert await redis.get(lease) == (None if how == "deleted" else b"another node")
    solver.release()
    await redis.delete(lease)
    for player in (ana, bob):
        await player.dealt()
    assert solver.stopped == 1


async def test_duty_of_a_killed_node_is_looked_at_soon(one: Node, redis: RedisClient) -> None:
    """Whoever begins a duty, or cannot begin it, lets some node tick the room after at most six seconds."""
    room = await (await one.player()).create(games=(GAME,))
    begun = asyncio.Event()

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def is_due_soon() -> bool:
        return bool(await redis.zscore(keys.DUE, room) <= await one.store.now() + LEASE)

    assert not await is_due_soon()
    doing = asyncio.create_task(one.rooms.duties.do(room, endless))
    await begun.wait()
    assert await is_due_soon()
    await redis.zadd(keys.DUE, {room: await one.store.now() + 10 * LEASE})
    assert not await one.rooms.duties.do(room, endless)
    assert await is_due_soon()
    doing.cancel()
    await asyncio.wait([doing])
    assert await is_free(redis, keys.duty(room))


async def test_duty_is_done_without_the_index(one: Node, redis: RedisClient) -> None:
    """In a cluster, the index of due rooms may be on a primary that is lost."""
    (ana,) = await race(one, names=["ana"], games=("athena",), limit=3_600)
    await redis.delete(keys.DUE)
    await redis.set(keys.DUE, "not an index")
    await ana.send(Resign)
    await ana.phase("finished")
    assert await one.rooms.duties.do(ana.room, one.store.now)
    await redis.delete(keys.DUE)


async def test_races_that_nodes_count_together_are_all_counted(one: Node, two: Node) -> None:
    changes = [partial(PlayerPast.with_race, race=str(number), pace=1, deal="") for number in range(4)]
    nodes = (one, two, one, two)
    await asyncio.gather(
        *(node.store.earlier.change_past("ana", each) for node, each in zip(nodes, changes, strict=True))
    )
    assert {*(await one.store.earlier.past("ana")).races} == {"0", "1", "2", "3"}

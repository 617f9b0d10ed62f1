"""Duties of rooms: one node does each of them, and whatever happens to that node, nothing is lost or done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any

import pytest

from samedeal.protocol.messages import Done, Resign, Start
from samedeal.race.values import DealSecret, Race
from samedeal_server.races.earlier import PlayerPast
from samedeal_server.races.race_record import race_id
from samedeal_server.rooms.duties import RENEWAL_INTERVAL
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate, winning_line
from samedeal_server.store import keys
from samedeal_server.store.news import NewsId
from samedeal_server.store.redis_client import RedisCommand
from samedeal_server.store.store import LEASE, RoomSecret
from tests.server.client import Client
from tests.server.live_nodes import Node, RedisClient
from tests.server.manual_timers import ManualTimers
from tests.server.races import ended_race, race, seated
from tests.server.waiting import until
from tests.shared.race_values import SEED

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


class Frozen:
    """A node that is suspended before it sends its next command to Redis.

    That is so after it has sent ``commands`` of them, counted from the first one that takes a lease.
    """

    def __init__(self, node: Node, lease: str, commands: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_suspended = asyncio.Event()
        self._thawed = asyncio.Event()
        self._lease = lease
        self._left = commands
        self._counts = False
        self._execute = node.store.executor.try_execute
        monkeypatch.setattr(node.store.executor, "try_execute", self._try_execute)
        node.rooms.duties.timers = ManualTimers()  # it renews no lease

    async def _try_execute(self, commands: Sequence[RedisCommand], *, durable: bool = False) -> list[Any]:
        self._counts = self._counts or any(each.key == self._lease for each in commands)
        if self._counts and not self._left:
            self.is_suspended.set()
            await self._thawed.wait()
        self._left -= self._counts
        return await self._execute(commands, durable=durable)

    def thaw(self) -> None:
        self._thawed.set()


async def ended(node: Node, redis: RedisClient, room: str) -> Race:
    """Store a race that has ended, in which ana has brought a card to the foundations. Nobody has recorded it."""
    now = await node.store.now()
    times = {"created": now - 60_000, "starts": now - 50_000, "finished_at": now}
    race = ended_race(room, phase="finished", **times)
    assert await node.store.create_room(race, RoomSecret(DealSecret(SEED), b"", b""))
    await redis.zrem(keys.DUE, room)  # only the test ticks it
    fields = {"request": 1, "action": "draw", "committed_at": now - 40_000, "seen": b""}
    await redis.xadd(keys.log(room, "ana"), {**fields, "foundation_cards": 1, "moves": 1, "undos": 0}, id="1-0")
    return race


async def test_node_suspended_at_any_write_doubles_nothing(
    one: Node, two: Node, redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is suspended for longer than its lease, or killed: before, between and after what it writes of a race."""
    paces: set[int] = set()
    kept_by = [0.0, 0.0]
    for commands in count():
        race = await ended(one, redis, f"room-{commands}")
        lease = keys.duty(race.room)
        with monkeypatch.context() as patched:
            frozen = Frozen(one, lease, commands, patched)
            ticking = asyncio.create_task(one.rooms.tick(race.room))
            suspended = asyncio.create_task(frozen.is_suspended.wait())
            await asyncio.wait((ticking, suspended), return_when=asyncio.FIRST_COMPLETED)
            was_suspended = suspended.done()
            suspended.cancel()
            await redis.delete(lease)
            await two.rooms.tick(race.room)
            recorded = await two.store.records.text(race_id(race))
            frozen.thaw()
            await ticking
        assert recorded
        assert await one.store.records.text(race_id(race)) == recorded
        assert len(await one.store.earlier.of_game(race.game.name)) == commands + 1
        past = await one.store.earlier.past("ana")
        paces.add(past.pace)
        assert past.races[0] == race_id(race)
        assert len(past.races) == len({*past.races}) == min(commands + 1, 16)
        told = [news.race for _, news in await one.store.news.after(NewsId(0, 0))]
        assert told == [*dict.fromkeys(told)]
        assert len(told) == commands + 1
        kept_by = [node.metric("records_total", outcome="kept") for node in (one, two)]
        assert sum(kept_by) == commands + 1
        if not was_suspended:
            break
    assert commands > 10
    assert kept_by[0] > 0 < kept_by[1]
    assert len(paces) == 1


async def test_races_that_nodes_count_together_are_all_counted(one: Node, two: Node) -> None:
    changes = [partial(PlayerPast.with_race, race=str(number), pace=1, deal="") for number in range(4)]
    nodes = (one, two, one, two)
    await asyncio.gather(
        *(node.store.earlier.change_past("ana", each) for node, each in zip(nodes, changes, strict=True))
    )
    assert {*(await one.store.earlier.past("ana")).races} == {"0", "1", "2", "3"}


async def test_news_of_the_end_waits_for_the_record(
    one: Node, two: Node, redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one node makes the record, another one tells nobody that the race has ended."""
    race = await ended(one, redis, "friday")
    frozen = Frozen(one, keys.duty("friday"), 1, monkeypatch)
    ticking = asyncio.create_task(one.rooms.tick("friday"))
    await frozen.is_suspended.wait()
    await two.rooms.tick("friday")
    assert not await two.store.records.has(race_id(race), race.result.finished_at)
    assert await two.store.news.after(NewsId(0, 0)) == []
    frozen.thaw()
    await ticking
    assert len(await two.store.news.after(NewsId(0, 0))) == 1

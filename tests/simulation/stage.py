"""The stage of a world, on which the rounds of ``tests.chaos`` run as they are: their plans, players and judge."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial, partialmethod
from typing import Any, Final
from unittest import mock

from samedeal_server.races.race_record import race_id
from samedeal_server.store import keys
from samedeal_server.store.connect import connect
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.chaos.client_journal import Journal, RoomEvidence
from tests.chaos.plan import Fault
from tests.chaos.proxy import Proxy
from tests.chaos.rounds import HOUSE_KEY
from tests.chaos.stage import Stage
from tests.simulation.judge import Disturbance, Duty, Work
from tests.simulation.loop import HOST, Host, SimulatedLoop
from tests.simulation.network import MUCH_LONGER, Transport
from tests.simulation.node import SimulatedNode, started_house
from tests.simulation.plan import LINK_FAULTS, Cut, WorldPlan
from tests.simulation.redis_server import Interference, SimulatedRedis
from tests.simulation.release import Release
from tests.simulation.solver import SolverProcess

_RESTART: Final = 0.5
"""Time, in seconds, until another node takes the place of one that a cut has killed."""

_CATCHING_UP: Final = 2.0
"""Time, in seconds, for a node that stood still to do what it had begun."""

_SETTLING: Final = 30.0
"""Timeout, in seconds, for the records of all races to be there."""

_RECORDS: Final = keys.record("").encode()

_LONGEST_STEP: Final = 4.0
"""Maximum step, in seconds, of the clock of Redis."""

_SLOWEST_SEARCH: Final = 40.0
"""Maximum factor by which searches take longer. A world waits about two minutes for its races to end."""

_FOR_EVER: Final = 10**9
"""A time, in milliseconds, that no world lasts."""

_LARGEST_OFFSET: Final = 3600.0
"""Maximum difference, in seconds, between the clock of a node and that of Redis."""


@dataclass(frozen=True)
class Wire:
    """A connection of a node to Redis, which a fault may reset or stall."""

    end: Transport

    def reset(self) -> None:
        """Reset both ends."""
        self.end.abort()

    def stall(self, seconds: float) -> None:
        """Deliver nothing for some seconds, in both directions."""
        for pipe in (self.end.outgoing, self.end.incoming):
            pipe.blocked_until = self.end.loop.time() + seconds


class _ToRedis:
    """The connections of all nodes to Redis."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    @property
    def connections(self) -> list[Wire]:
        """All that are open now."""
        return [Wire(end) for end in self._loop.network.between("node", "redis")]


class SimulatedStage(Stage):
    """Nodes and a Redis of a world. ``options`` are those of the nodes, which first have the first of ``releases``.

    ``work`` is what the nodes did.
    """

    def __init__(
        self,
        plan: WorldPlan,
        loop: SimulatedLoop,
        redis: SimulatedRedis,
        releases: Sequence[Release],
        *options: str,
    ) -> None:
        super().__init__(redis, redis, _ToRedis(loop), fails_over=plan.round.fails_over)
        self.redis: SimulatedRedis = redis
        self.work = Work()
        self._loop = loop
        self._options = options
        self._releases = releases
        self._release = releases[0]
        redis.scripts = {digest: name for release in releases for digest, name in release.scripts.items()}
        self._deploying = asyncio.Lock()
        self._cuts = {(cut.place, cut.nth): cut for cut in plan.cuts}
        self.patience = sum(cut.seconds for cut in plan.cuts)
        self._reached: Counter[str] = Counter()
        self._restarts: list[asyncio.Task[None]] = []
        self._house: tuple[str, Host]

    def _now(self) -> int:
        return int(1000 * self._loop.true_time())

    async def _start_node(self, number: int) -> Any:
        node = SimulatedNode(self._loop, f"node-{number}", self.redis.url, *self._options, release=self._release)
        node.host.clock = self._loop.random.uniform(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        return await node.started()

    def begin(self) -> None:
        self.redis.interfere = self._interfere
        self.redis.observe = self._observe

    def start_house(self, url: str) -> None:
        self._house = url, started_house(self._loop, url, HOUSE_KEY)

    def _observe(self, host: Host, command: list[bytes]) -> None:
        """Note that the record of a race is written."""
        if command[0] == b"HSET" and command[1].startswith(_RECORDS):
            self.work.writes[command[1].removeprefix(_RECORDS).decode()].append((self._now(), host.name))

    @contextmanager
    def work_noted(self) -> Iterator[None]:
        """Note which node does which duty, and what nodes count and tell of races that have ended."""

        async def keep(do: Any, records: object, line: Any, *rest: object) -> Any:
            if is_new := await do(records, line, *rest):
                self.work.counted.append(line.race)
            return is_new

        async def tell(do: Any, store: object, news: Any) -> None:
            if news.race not in self.work.writes:
                self.work.told_early.append(news.race)
            await do(store, news)

        async def note(do: Any, duties: object, room: str, work: Any) -> Any:
            async def noted() -> object:
                self.work.duties.append(duty := Duty(room, work.func.__name__, HOST.get().name, self._now()))
                try:
                    return await work()
                finally:
                    duty.ends = self._now()

            return await do(duties, room, noted)

        with ExitStack() as stack:
            for server in (release.server for release in self._releases):
                for kind, name, noting in (
                    (server("rooms.duties").Duties, "do", note),
                    (server("store.records").RecordStore, "keep", keep),
                    (server("store.news").NewsStore, "add_once", tell),
                ):
                    method = partialmethod(partial(noting, getattr(kind, name)))
                    stack.enter_context(mock.patch.object(kind, name, method))
            yield

    async def settle(self, rooms: Mapping[str, RoomEvidence], journals: Sequence[Journal]) -> None:
        """Wait for the records of all races, and until all nodes go on."""
        await self._all_go_on()
        async with connect(self.redis.url) as redis:
            store = Store(redis, Metrics())
            ended = [race_id(room.race) for room in rooms.values() if room.race.result.standings]
            deadline = self._loop.time() + _SETTLING
            while self._loop.time() < deadline and not all([await store.records.access(race) for race in ended]):  # noqa: ASYNC110  # Redis sets no event
                await asyncio.sleep(0.5)
            self._cuts.clear()
            await self._all_go_on()
            for key in [key async for key in store.executor.scan(f"{_RECORDS.decode()}*")]:
                race = key.removeprefix(_RECORDS).decode()
                self.work.records[race] = await store.records.text(race)
            for player in sorted({racer.player for room in rooms.values() for racer in room.race.racers}):
                self.work.pasts[player] = (await store.earlier.past(player)).races
            for key in [key async for key in store.executor.scan(f"{keys.earlier('')}*")]:
                self.work.earlier += [each.decode() for each in await redis.hkeys(key.decode())]  # type: ignore[union-attr]  # a PrimaryClient

    async def _all_go_on(self) -> None:
        while held := [task for task in self._restarts if not task.done()]:
            await asyncio.wait(held)
            await asyncio.sleep(_CATCHING_UP)

    def _interfere(self, host: Host, labels: list[str]) -> Interference | None:
        """Return what the plan has for a batch of a node."""
        node = next((node for node in self.nodes if node.host is host and not node.leaving), None)
        if node is None:
            return None
        for at, label in enumerate(labels):
            if label not in labels[:at]:
                self._reached[label] += 1
                if (cut := self._cuts.pop((label, self._reached[label]), None)) is not None:
                    return self._interference(cut, at, node)
        return None

    def _interference(self, cut: Cut, at: int, node: SimulatedNode) -> Interference:
        what, _, when = cut.what.partition(" ")
        self._loop.note("cut", f"{cut} of {node.host.name}")
        takes = cut.seconds if what in ("freeze", "late") else _RESTART if what == "crash" else 0.0
        self._disturb(str(cut), takes, is_brief=what == "cut")
        match what:
            case "cut":
                return Interference(when, at)  # type: ignore[arg-type]  # before, during or after
            case "crash":
                return Interference(when, at, then=lambda: self._spawn(self._crash(node)))  # type: ignore[arg-type]  # as above
            case "freeze":
                return Interference("late", then=lambda: self._spawn(self._freeze(node, cut.seconds)))
            case "late":
                return Interference("late", seconds=cut.seconds)
            case _:
                return Interference("refuse", at)

    def _disturb(self, what: str, seconds: float, *, is_brief: bool = False) -> None:
        begins = self._now()
        ends = begins + int(1000 * seconds)
        self.work.disturbances.append(Disturbance(what, begins, ends, is_brief))
        self.calm_at = max(self.calm_at, ends)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._restarts.append(self._loop.world.run(work))

    async def _freeze(self, node: SimulatedNode, seconds: float) -> None:
        node.freeze()
        await asyncio.sleep(seconds)
        if not node.leaving:
            node.thaw()

    async def _crash(self, node: SimulatedNode) -> None:
        await node.kill()
        await asyncio.sleep(_RESTART)
        await self._add_node()

    async def inject(self, fault: Fault, proxy: Proxy) -> None:
        """Let a fault happen, and end."""
        self._loop.note("fault", str(fault))
        if fault.kind == "deploy":
            await self._deploy(fault, proxy)
            return
        begins = self._now()
        self._disturb(str(fault), fault.seconds)
        if fault.kind in (*LINK_FAULTS, "step clock", "kill house"):
            await self._link_fault(fault)
        else:
            await super().inject(fault, proxy)
        self._disturb(f"{fault.kind} ends", 0.0)
        ends = begins + _FOR_EVER if fault.kind == "delay" else self._now()  # connections stay slow
        self.work.disturbances.append(Disturbance(str(fault), begins, ends))

    async def _deploy(self, fault: Fault, proxy: Proxy) -> None:
        """Replace the nodes one by one by those of the other release. In between, both serve players, without a fault."""
        kind = "kill node" if fault.which % 2 else "drain node"
        async with self._deploying:
            self._release = next(release for release in self._releases if release is not self._release)
            while old := [node for node in self.nodes if not node.leaving and node.release is not self._release]:
                running = [node for node in self.nodes if not node.leaving and not node.frozen]
                if old[0] in running:
                    await self.inject(replace(fault, kind=kind, which=running.index(old[0]), seconds=_RESTART), proxy)
                await asyncio.sleep(fault.seconds)

    async def _link_fault(self, fault: Fault) -> None:
        hosts = [node.host for node in self.nodes if not node.leaving]
        if not hosts:
            return  # the only node was just killed
        host = hosts[fault.which % len(hosts)]
        match fault.kind:
            case "mute redis" | "mute clients":  # what they send is lost, and then the connections
                ends = self._loop.network.between(host.name, "redis" if fault.kind == "mute redis" else "world")
                for end in ends:
                    end.incoming.loses = True
                await asyncio.sleep(fault.seconds)
                for end in ends:
                    end.abort()
            case "lose announcements":
                self.redis.deaf.add(host.name)
                await asyncio.sleep(fault.seconds)
                self.redis.deaf.discard(host.name)
            case "slow search":
                factor = min(10, _SLOWEST_SEARCH / SolverProcess.slowness)
                SolverProcess.slowness *= factor
                await asyncio.sleep(fault.seconds)
                SolverProcess.slowness /= factor
            case "step clock":
                step = int(1000 * min(fault.seconds, _LONGEST_STEP)) * (1 if fault.which % 2 else -1)
                self.stepped += abs(step)
                self.redis.host.clock += step / 1000
            case "step node clock":
                host.clock += 3600 if fault.which % 2 else -3600
            case "kill house":
                url, house = self._house
                house.stand_still()
                self._loop.network.disconnect(house)
                await asyncio.sleep(fault.seconds)
                self.start_house(url)
            case "slow network":
                network = self._loop.network
                network.slowest *= 50
                await asyncio.sleep(fault.seconds)
                network.slowest /= 50
                await asyncio.sleep(50 * MUCH_LONGER * network.slowest)  # until what was sent last has arrived
            case unknown:
                raise ValueError(f"there is no fault {unknown!r}")

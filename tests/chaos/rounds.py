"""One round: the stage is set, the clients race while things go wrong, and everything is put before the judge."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

from websockets.asyncio.client import connect as dial
from websockets.typing import Subprotocol

from samedeal.options import WantedOptions
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import SUBPROTOCOL, Acked, Create, Created, Hello
from samedeal.record import Record
from samedeal_server.store import keys
from samedeal_server.store.connect import connect
from samedeal_server.store.database import OneRedis
from samedeal_server.store.redis import Store
from tests.chaos.bots import LinkRacer, Racer, Spectator
from tests.chaos.brain import Brain
from tests.chaos.journal import Evidence, Journal, RoomEvidence, now
from tests.chaos.judge import judge
from tests.chaos.plan import Fault, Plan, RoomPlan
from tests.chaos.proxy import Proxy, Target, Wire
from tests.chaos.stage import Node, RedisServer

Client = tuple[Callable[[], Coroutine[Any, Any, None]], Journal]

RECORDS: Final = Path(__file__).parent.parent / "golden" / "records"

_PATIENCE: Final = 25.0
"""Seconds that a round's clients have beyond the longest race and the last fault."""

_FOR_EVER: Final = -1
"""What Redis says of a key that never goes; of one that has just gone it says something else."""

_INDEXES: Final = frozenset((keys.ROOMS, keys.DUE, keys.LAYOUTS, keys.NODE_NAMES, keys.RECEIPTS))


def known_ways() -> dict[str, Record]:
    """A won record of each game."""
    return {path.stem: Record.parse(path.read_text()) for path in sorted(RECORDS.glob("*.txt"))}


@dataclass(frozen=True)
class Outcome:
    """What the judge found in a round, and counts of what was in it."""

    violations: tuple[str, ...]
    faults: Counter[str]
    racers: int
    acked: int
    home: int
    away: tuple[float, ...]

    def __str__(self) -> str:
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        return (
            f"{self.racers} racers, {self.acked} actions acked, {self.home} came home, "
            f"{len(self.away)} times back after {median(self.away or (0,)):.2f} s (median), "
            f"{max(self.away, default=0):.1f} s (longest); {faults}"
        )


async def play_round(plan: Plan) -> Outcome:
    """Play a round and judge it. Leaves nothing behind, however it ends."""
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as scratch:
        stage = _Stage(plan, Path(scratch))
        try:
            evidence = await stage.play()
        finally:
            await stage.clear()
    away = [seconds for journal in evidence.journals for seconds in journal.away]
    return Outcome(
        violations=tuple(judge(evidence)),
        faults=stage.done,
        racers=sum(not journal.watches for journal in evidence.journals),
        acked=len(
            {
                (journal.player, told.message.revision)
                for journal in evidence.journals
                for told in journal.told
                if isinstance(told.message, Acked)
            }
        ),
        home=sum(line.time > 0 for room in evidence.rooms.values() for line in room.race.standings),
        away=tuple(away),
    )


class _Stage:
    def __init__(self, plan: Plan, scratch: Path) -> None:
        self.plan = plan
        self.done: Counter[str] = Counter()
        self._scratch = scratch
        self._redis = RedisServer(scratch)
        self._to_redis = Proxy(lambda: [self._redis.socket])
        self._nodes: list[Node] = []
        self._mishaps: list[str] = []
        self._journals: list[Journal] = []
        self._repairs: set[asyncio.Task[None]] = set()
        self._restarting = asyncio.Lock()
        self._number = 0

    # ---------------------------------------------------------------- the round

    async def play(self) -> Evidence:
        plan = self.plan
        await self._redis.start()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._to_redis)
            await asyncio.gather(*(self._add_node() for _ in range(plan.nodes)))
            await self._open_rooms()
            return await self._race(await stack.enter_async_context(Proxy(self._targets)))

    async def _race(self, proxy: Proxy) -> Evidence:
        plan, url = self.plan, f"ws://127.0.0.1:{proxy.port}"
        async with AsyncExitStack() as stack:
            clients: list[tuple[asyncio.Task[None], Journal]] = [
                (asyncio.create_task(run(), name=journal.name), journal)
                for room in plan.rooms
                for run, journal in self._clients(url, room)
            ]
            stack.push_async_callback(_cancelled, [task for task, _ in clients])
            await self._go_wrong(proxy)
            calm = now()
            longest = max(room.options.limit for room in plan.rooms)
            await asyncio.wait([task for task, _ in clients], timeout=longest + _PATIENCE)
            for task, journal in clients:
                if not task.done():
                    self._mishaps.append(f"{journal.name}: never saw the end of the race")
                elif (error := task.exception()) is not None:
                    self._mishaps.append(f"{journal.name}: the client failed: {error!r}")
        rooms, lasting = await self._look()
        gone = [
            f"{node.log.name}: gone by itself with exit code {node.code}"
            for node in self._nodes
            if node.code is not None and not node.leaving
        ]
        left = await asyncio.gather(*(node.drain() for node in self._nodes if not node.leaving))
        self._mishaps += gone + [said for said in left if said]
        logs = [
            f"{node.log.name}: {line}"
            for node in self._nodes
            for line in node.log.read_text(errors="replace").splitlines()
        ]
        return Evidence(rooms, self._journals, lasting, logs, self._mishaps, calm)

    async def clear(self) -> None:
        await _cancelled(list(self._repairs))
        await asyncio.gather(*(node.kill() for node in self._nodes))
        await self._redis.kill()

    async def _open_rooms(self) -> None:
        host, port = self._nodes[0].target
        async with dial(
            f"ws://{host}:{port}", subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, proxy=None
        ) as socket:
            await socket.send(encode(Hello(id=0, name="opener")))
            await socket.recv()
            for number, room in enumerate(self.plan.rooms, 1):
                await socket.send(encode(Create(id=number, options=WantedOptions.of(room.options), room=room.code)))
                answer = decode_to_client(await socket.recv())
                if answer != Created(to=number, room=room.code):
                    raise RuntimeError(f"{room.code} was not opened: {answer}")

    def _clients(self, url: str, room: RoomPlan) -> list[Client]:
        found: list[Client] = []
        count = room.options.players
        way = [action for _, action in known_ways()[room.options.games[0]].actions]
        for number in range(count + room.spectators):
            watches = number >= count
            journal = Journal(f"{'eye' if watches else 'bot'}-{number + 1}", room.code, watches)
            journal.name = f"{journal.name}-{room.code.removeprefix('room-')}"
            self._journals.append(journal)
            rng = self.plan.rng(journal.name)
            if watches:
                found.append((Spectator(url, journal, rng).run, journal))
                continue
            solves = number < room.solvers
            brain = Brain(rng, room.options.undo, way if solves else ())
            pace = rng.uniform(0.03, 0.06) if solves else rng.choice([0.05, 0.1, 0.3])
            kind = LinkRacer if number >= count - room.links else Racer
            found.append((kind(url, journal, rng, brain, pace).run, journal))
        return found

    # ---------------------------------------------------------------- what goes wrong

    async def _go_wrong(self, proxy: Proxy) -> None:
        began = asyncio.get_running_loop().time()
        for fault in self.plan.faults:
            await asyncio.sleep(max(0.0, began + fault.at - asyncio.get_running_loop().time()))
            self.done[fault.kind] += 1
            self._aside(self._fault(fault, proxy))
        while self._repairs:
            await asyncio.wait(self._repairs)
        for node in self._nodes:
            if node.frozen:
                node.thaw()

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._repairs.add(task)
        task.add_done_callback(self._repaired)

    def _repaired(self, task: asyncio.Task[None]) -> None:
        self._repairs.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._mishaps.append(f"the stage failed: {error!r}")

    async def _fault(self, fault: Fault, proxy: Proxy) -> None:
        match fault.kind:
            case "kill node" | "freeze node" | "drain node":
                await self._node_fault(fault)
            case "kill redis":
                async with self._restarting:
                    await self._redis.kill()
                    await asyncio.sleep(fault.seconds)
                    await self._redis.start()
            case "pause redis":
                milliseconds = int(1000 * min(fault.seconds, 6.0))
                await self._redis.do("CLIENT", "PAUSE", milliseconds, "ALL")
                await asyncio.sleep(milliseconds / 1000)
            case "drop redis clients":
                await self._drop_again_and_again("normal", fault)
            case "drop announcements":
                await self._drop_again_and_again("pubsub", fault)
            case _:
                wires = self._to_redis.wires if fault.kind in ("stall redis", "reset redis") else proxy.wires
                for wire in _some(wires, fault):
                    _break(wire, fault)
                if fault.kind in ("stall", "stall redis"):
                    await asyncio.sleep(fault.seconds)

    async def _drop_again_and_again(self, kind: str, fault: Fault) -> None:
        """Have Redis drop connections of a kind, so often that some are in the middle of something."""
        for _ in range(1 + fault.which % 20):
            await self._redis.do("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
            await asyncio.sleep(0.03)

    async def _node_fault(self, fault: Fault) -> None:
        up = [node for node in self._nodes if not node.leaving and not node.frozen]
        if not up:
            return
        node = up[fault.which % len(up)]
        if fault.kind == "freeze node":
            node.freeze()
            await asyncio.sleep(fault.seconds)
            node.thaw()
            return
        if fault.kind == "kill node":
            await node.kill()
        else:
            if said := await node.drain():
                self._mishaps.append(said)
        await asyncio.sleep(min(fault.seconds, 1.0))
        await self._add_node()

    async def _add_node(self) -> None:
        """Start one more node; one that finds no Redis says so and goes, as it should, and another is tried.

        Every other one has a network between itself and Redis.
        """
        node = None
        while node is None:
            self._number += 1
            url = f"redis://127.0.0.1:{self._to_redis.port}/0" if self._number % 2 else self._redis.url
            try:
                node = await Node.start(url, self._scratch / f"node-{self._number}.log")
            except RuntimeError as error:
                if "Traceback" in str(error):
                    raise
        self._nodes.append(node)

    def _targets(self) -> list[Target]:
        return [node.target for node in self._nodes if not node.leaving]

    # ---------------------------------------------------------------- what is left

    async def _look(self) -> tuple[dict[str, RoomEvidence], list[str]]:
        rooms: dict[str, RoomEvidence] = {}
        async with connect(self._redis.url) as redis:
            assert isinstance(redis, OneRedis)
            store = Store(redis)
            for room in (room.code for room in self.plan.rooms):
                if (found := await kept(store, room)) is None:
                    self._mishaps.append(f"{room}: not all of it is in Redis")
                else:
                    rooms[room] = found
            lasting = [
                key.decode()
                async for key in redis.scan_iter(count=1000)
                if key.decode() not in _INDEXES and await redis.ttl(key) == _FOR_EVER
            ]
        return rooms, lasting


async def kept(store: Store, room: str) -> RoomEvidence | None:
    """A room as Redis has it, None where a part of it is not there."""
    found, secret, events = await store.load(room), await store.secret(room), await store.events(room, 0)
    if found is None or secret is None or events is None:
        return None
    logs = {racer.player: await store.log(room, racer.player) for racer in found.race.racers}
    return RoomEvidence(found.race, secret.seed, logs, events)


def _some(wires: list[Wire], fault: Fault) -> list[Wire]:
    rng = Random(fault.which)
    return [wire for wire in wires if rng.random() < fault.share]


def _break(wire: Wire, fault: Fault) -> None:
    match fault.kind:
        case "cut":
            wire.cut()
        case "reset" | "reset redis":
            wire.reset()
        case "stall" | "stall redis":
            wire.stall(fault.seconds)
        case "swallow":
            wire.swallow(min(fault.seconds, 2.0))
        case "delay":
            wire.delay(min(fault.seconds, 1.0) / 4)
        case "split":
            wire.split(1 + fault.which % 7, fault.seconds)


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

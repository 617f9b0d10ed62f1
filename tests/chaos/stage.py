"""Where a round takes place: Redis and nodes, and the faults that they and their connections can have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from tests.chaos.client_journal import Journal, RoomEvidence, now
from tests.chaos.plan import Fault
from tests.chaos.processes import Node, RedisServer
from tests.chaos.proxy import ProxiedConnection, Proxy
from tests.server.redis_kinds import LaggingReplica


class Stage:
    """A Redis, which has a replica if it ``fails_over``, and nodes.

    ``single`` is the Redis that can be killed, ``replicated`` the one that can fail over, and ``to_redis`` the
    connections of nodes to Redis. ``failures`` has a sentence for each node that did not end as it should. ``lost`` are
    the times, in milliseconds, of which a failover may have lost the writes, and ``stepped`` is the sum of all steps of
    the clock. ``calm_at`` is when the last of the stage's own faults ended, in milliseconds since 1970, and ``patience``
    the number of seconds by which they may delay the end of races.
    """

    def __init__(self, single: Any, replicated: Any, to_redis: Any, *, fails_over: bool) -> None:
        self.nodes: list[Any] = []
        self.failures: list[str] = []
        self.lost = range(0)
        self.stepped = 0
        self.calm_at = 0
        self.patience = 0.0
        self.fails_over = fails_over
        self.redis = replicated if fails_over else single
        self._single = single
        self._replicated = replicated
        self._to_redis = to_redis
        self._restarting = asyncio.Lock()
        self._started = 0

    @asynccontextmanager
    async def running(self, nodes: int) -> AsyncIterator[Proxy]:
        """Start Redis and nodes, and yield a proxy to the nodes. Ends all of them afterwards."""
        try:
            await self.redis.start()
            await asyncio.gather(*(self._add_node() for _ in range(nodes)))
            async with Proxy(self.targets, homes=True) as proxy:
                yield proxy
        finally:
            await asyncio.gather(*(node.kill() for node in self.nodes))
            await self.redis.kill()

    def targets(self) -> list[tuple[str, int]]:
        """The addresses of the nodes that admit clients."""
        return [node.target for node in self.nodes if not node.leaving]

    def begin(self) -> None:
        """Note that the rooms are open, and players come now."""

    def start_house(self, url: str) -> None:
        """Start a house that connects to ``url``."""

    async def settle(self, rooms: Mapping[str, RoomEvidence], journals: Sequence[Journal]) -> None:
        """Look at what the races have left, before the nodes stop."""

    async def inject(self, fault: Fault, proxy: Proxy) -> None:
        """Let a fault happen, and end."""
        match fault.kind:
            case "kill node" | "freeze node" | "drain node":
                await self._node_fault(fault)
            case "kill redis":
                async with self._restarting:
                    await self._single.kill()
                    await asyncio.sleep(fault.seconds)
                    await self._single.start()
            case "fail over":
                began = now()
                await self._replicated.fall_behind()
                await asyncio.sleep(min(max(fault.seconds, 0.3), 1.5))
                await self._replicated.fail_over()
                self.lost = range(began, now() + 1)
            case "pause redis":
                milliseconds = int(1000 * min(fault.seconds, 6.0))
                await self._single.do("CLIENT", "PAUSE", milliseconds, "ALL")
                await asyncio.sleep(milliseconds / 1000)
            case "drop redis clients":
                await self._drop_redis_connections("normal", fault)
            case "drop announcements":
                await self._drop_redis_connections("pubsub", fault)
            case _:
                wires = (
                    self._to_redis.connections if fault.kind in ("stall redis", "reset redis") else proxy.connections
                )
                for wire in _chosen(wires, fault):
                    _break_connection(wire, fault)
                if fault.kind in ("stall", "stall redis"):
                    await asyncio.sleep(fault.seconds)

    async def _drop_redis_connections(self, kind: str, fault: Fault) -> None:
        """Let Redis drop connections of a kind repeatedly, so that some are in the middle of a command."""
        for _ in range(1 + fault.which % 20):
            await self._single.do("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
            await asyncio.sleep(0.03)

    async def _node_fault(self, fault: Fault) -> None:
        running = [node for node in self.nodes if not node.leaving and not node.frozen]
        if not running:
            return
        node = running[fault.which % len(running)]
        if fault.kind == "freeze node":
            node.freeze()
            await asyncio.sleep(fault.seconds)
            node.thaw()
            return
        if fault.kind == "kill node":
            await node.kill()
        else:
            if problem := await node.drain():
                self.failures.append(problem)
        await asyncio.sleep(min(fault.seconds, 1.0))
        await self._add_node()

    async def _add_node(self) -> None:
        """Start a node. A node that can't reach Redis exits, as it should, and another one is started."""
        node = None
        while node is None:
            self._started += 1
            try:
                node = await self._start_node(self._started)
            except RuntimeError as error:
                if "Traceback" in str(error):
                    raise
        self.nodes.append(node)

    async def _start_node(self, number: int) -> Any:
        """Start a node and wait until clients can connect. Raise RuntimeError with its log if it does not start."""
        raise NotImplementedError


class ProcessStage(Stage):
    """Real processes. ``options`` are those of the nodes."""

    def __init__(self, scratch: Path, *options: str, fails_over: bool) -> None:
        self._scratch = scratch
        self._options = options
        to_redis = Proxy(lambda: [self.redis.target])
        super().__init__(RedisServer(scratch), LaggingReplica(scratch), to_redis, fails_over=fails_over)

    @asynccontextmanager
    async def running(self, nodes: int) -> AsyncIterator[Proxy]:
        async with self._to_redis, super().running(nodes) as proxy:
            yield proxy

    async def _start_node(self, number: int) -> Node:
        """Start a node. Every other node reaches Redis through the proxy. If Redis fails over, all nodes do."""
        proxied = number % 2 or self.fails_over
        url = f"redis://127.0.0.1:{self._to_redis.port}/0" if proxied else self.redis.url
        log = self._scratch / f"node-{number}.log"
        return await Node.start(url, log, *self._options)


def _chosen(wires: list[ProxiedConnection], fault: Fault) -> list[ProxiedConnection]:
    rng = Random(fault.which)
    return [wire for wire in wires if rng.random() < fault.share]


def _break_connection(wire: ProxiedConnection, fault: Fault) -> None:
    match fault.kind:
        case "cut":
            wire.close()
        case "reset" | "reset redis":
            wire.reset()
        case "stall" | "stall redis":
            wire.stall(fault.seconds)
        case "drop answers":
            wire.drop_answers(min(fault.seconds, 2.0))
        case "delay":
            wire.delay(min(fault.seconds, 1.0) / 4)
        case "split":
            wire.split(1 + fault.which % 7, fault.seconds)
        case unknown:
            raise ValueError(f"there is no fault {unknown!r}")

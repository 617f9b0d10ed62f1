"""A real Redis and real nodes under load, and the resources that they use."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, Self

from tests.chaos.processes import Node, RedisServer
from tests.child_processes import die_with_parent, kill_and_wait
from tests.server import races
from tests.server.client import Client

NO_LIMITS: Final = (
    *("--limit-connections", "10000", "--limit-connections-per-address", "10000", "--limit-handshakes", "5000"),
    *("--limit-sessions-per-address", "100000", "--limit-rooms-per-address", "100000"),
    *("--limit-address-rate", "1000000", "--limit-address-burst", "1000000"),
    *("--limit-rate", "100000", "--limit-burst", "100000"),
)
"""Options of a node for tests whose many clients share one address."""


@dataclass(frozen=True)
class Usage:
    """The proportional memory of a process in bytes, and its CPU time in seconds."""

    memory: int
    cpu: float

    @classmethod
    def of(cls, pid: int) -> Self:
        """Return the resources that the process ``pid`` has used so far. Needs Linux."""
        place = Path(f"/proc/{pid}")
        rollup = dict(line.split(":", 1) for line in (place / "smaps_rollup").read_text().splitlines()[1:])
        ticks = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
        return cls(int(rollup["Pss"].split()[0]) * 1024, sum(map(int, ticks)) / 100)


class LoadSetup:
    """A Redis, and nodes that are started on demand."""

    def __init__(self, scratch: Path, stack: AsyncExitStack) -> None:
        self.redis = RedisServer(scratch)
        self.nodes: list[Node] = []
        self._scratch = scratch
        self._stack = stack

    async def node(
        self,
        *settings: str,
        limits: Sequence[str] = NO_LIMITS,
        files: int | None = None,
        module: str = "samedeal_server",
    ) -> Node:
        """Start a node, which is the program ``module``."""
        log = self._scratch / f"node-{len(self.nodes)}.log"
        node = await Node.start(
            self.redis.url, log, "--log-level", "warning", *limits, *settings, files=files, module=module
        )
        self._stack.push_async_callback(node.kill)
        self.nodes.append(node)
        return node

    async def crowd(self, node: Node, count: int, room: str = "", reading: str = "") -> asyncio.subprocess.Process:
        """Open ``count`` connections from another process, which stay open until it is killed."""
        return await self._clients("crowd", node, str(count), room, reading)

    async def flood(self, node: Node, kind: str, count: int, addresses: int = 1) -> asyncio.subprocess.Process:
        """Let ``count`` clients in another process send requests of a kind, until ``end_flood`` is called."""
        return await self._clients("flood", node, kind, str(count), str(addresses))

    async def _clients(self, module: str, node: Node, *arguments: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"tests.load.{module}", *map(str, node.target), *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=die_with_parent if "timed" in arguments else _lower_priority,
        )
        self._stack.push_async_callback(kill_and_wait, process)
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line == b"ready\n", "the clients did not connect"
        return process


def _lower_priority() -> None:
    die_with_parent()
    # These clients stand for other machines and must not take CPU time from the node.
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    os.sched_setscheduler(0, policy, os.sched_param(max(0, priority - 1)))
    os.nice(15)


async def end_flood(process: asyncio.subprocess.Process) -> int:
    """End a flood. Return the number of its requests that were not refused as too many."""
    accepted, _ = await process.communicate(b"")  # closes its standard input
    return int(accepted)


@asynccontextmanager
async def load_setup(durability: str = "always") -> AsyncIterator[LoadSetup]:
    """Run a Redis, which has a ``durability`` until it is killed. Kill all processes and remove all files at the end."""
    async with AsyncExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="load-", ignore_cleanup_errors=True))
        setup = LoadSetup(Path(scratch), stack)
        stack.push_async_callback(setup.redis.kill)
        await setup.redis.start("--appendfsync", durability)
        yield setup


def url_of(node: Node) -> str:
    """Return the URL of a node."""
    return "ws://{}:{}".format(*node.target)


async def race(node: Node, name: str, seats: int = 4, **options: Any) -> list[Client]:
    """Start a race of ``seats`` players, and return their clients."""
    wanted: dict[str, Any] = {"undo": "free", "limit": 7200, "players": seats, **options}
    return list(await races.race(url_of(node), names=[f"{name}-{number}" for number in range(seats)], **wanted))


async def ack_latencies(
    racers: list[Client], seconds: float, pace: float, seed: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Let racers move for ``seconds``, with ``pace`` seconds between moves on average.

    Return the latencies of all acks, in seconds of ``clock``, sorted.
    """
    latencies: list[float] = []
    until = time.monotonic() + seconds

    async def play(racer: Client, number: int) -> None:
        rng = Random(f"{seed} {number}")
        while time.monotonic() < until:
            await asyncio.sleep(rng.expovariate(1 / pace))
            action = str(rng.choice(racer.play.board.legal_moves()))
            began = clock()
            await racer.act(action)
            latencies.append(clock() - began)
            racer.inbox.clear()
            racer.frames.clear()

    async with asyncio.TaskGroup() as group:
        for number, racer in enumerate(racers):
            group.create_task(play(racer, number))
    return sorted(latencies)

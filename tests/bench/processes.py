"""A real Redis and real nodes under load, and the resources that they use."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
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
        files: int | None = None,
        module: str = "samedeal_server",
    ) -> Node:
        """Start a node, which is the program ``module``."""
        log = self._scratch / f"node-{len(self.nodes)}.log"
        node = await Node.start(
            self.redis.url, log, "--log-level", "warning", *NO_LIMITS, *settings, files=files, module=module
        )
        self._stack.push_async_callback(node.kill)
        self.nodes.append(node)
        return node

    async def crowd(self, node: Node, count: int, room: str = "") -> asyncio.subprocess.Process:
        """Open ``count`` connections from another process, which stay open until it is killed."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.bench.crowd", *map(str, (*node.target, count)), room),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=die_with_parent,
        )
        self._stack.push_async_callback(kill_and_wait, process)
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line == b"ready\n", "the clients did not connect"
        return process


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

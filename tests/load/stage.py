"""A real Redis and real nodes under load, and what they cost."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, Self

from samedeal.play import Undo
from samedeal.protocol.messages import Done, Start
from tests.chaos.stage import Node, RedisServer, die_with_parent
from tests.server.client import Client

OPEN_TO_ALL: Final = (
    *("--limit-connections", "10000", "--limit-connections-per-address", "10000", "--limit-handshakes", "5000"),
    *("--limit-sessions-per-address", "100000", "--limit-rooms-per-address", "100000"),
    *("--limit-address-rate", "1000000", "--limit-address-burst", "1000000"),
    *("--limit-rate", "100000", "--limit-burst", "100000", "--log-level", "warning"),
)
"""All clients of a test come from one address."""


@dataclass(frozen=True)
class Usage:
    """What a process has used: memory of its own in bytes (shared pages by their share), seconds of CPU, open files."""

    memory: int
    cpu: float
    files: int

    @classmethod
    def of(cls, pid: int) -> Self:
        """What a process has used up to now (Linux)."""
        place = Path(f"/proc/{pid}")
        rollup = dict(line.split(":", 1) for line in (place / "smaps_rollup").read_text().splitlines()[1:])
        ticks = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
        return cls(
            int(rollup["Pss"].split()[0]) * 1024, sum(map(int, ticks)) / 100, len(list((place / "fd").iterdir()))
        )


class Stage:
    """One Redis, and nodes as they are asked for."""

    def __init__(self, scratch: Path, stack: AsyncExitStack) -> None:
        self.redis = RedisServer(scratch)
        self.nodes: list[Node] = []
        self._scratch = scratch
        self._stack = stack

    async def node(self, *settings: str, files: int | None = None) -> Node:
        """Start one more node."""
        log = self._scratch / f"node-{len(self.nodes)}.log"
        node = await Node.start(self.redis.url, log, *OPEN_TO_ALL, *settings, files=files)
        self._stack.push_async_callback(node.kill)
        self.nodes.append(node)
        return node

    async def crowd(self, node: Node, count: int, room: str = "", ear: str = "") -> asyncio.subprocess.Process:
        """So many connections from another process; they are there until it is killed."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.load.crowd", *map(str, node.target), str(count)),
            *(room, ear),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=_humbly,
        )
        self._stack.push_async_callback(gone, process)
        assert process.stdout is not None
        said = await process.stdout.readline()
        assert said == b"there\n", "the crowd did not come"
        return process


def _humbly() -> None:
    die_with_parent()
    os.nice(15)  # what a crowd costs its own machine is not to be taken from the node, which is another


async def gone(process: asyncio.subprocess.Process) -> None:
    """Have a crowd go, without a word."""
    if process.returncode is None:
        process.kill()
    await process.wait()


@asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    """A stage with its Redis; nothing is left of it afterwards."""
    async with AsyncExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="load-", ignore_cleanup_errors=True))
        built = Stage(Path(scratch), stack)
        stack.push_async_callback(built.redis.kill)
        await built.redis.start()
        yield built


def url_of(node: Node) -> str:
    """Where clients find a node."""
    return "ws://{}:{}".format(*node.target)


async def race(node: Node, name: str, seats: int = 4, **options: Any) -> list[Client]:
    """A room with so many racers, who have their boards."""
    racers = [await Client.hello(url_of(node), f"{name}-{number}") for number in range(seats)]
    how: dict[str, Any] = {"games": ("athena",), "undo": "free", "limit": 7200, "players": seats, **options}
    room = await racers[0].create(**how)
    for racer in racers:
        racer.undo = Undo.FREE
        await racer.join(room)
    await racers[0].want(Done, Start)
    for racer in racers:
        await racer.dealt()
    return racers


async def acks(racers: list[Client], seconds: float, pace: float, seed: int) -> list[float]:
    """Have racers move at a pace for a while; the seconds that each ack took, sorted."""
    took: list[float] = []
    until = time.monotonic() + seconds

    async def play(racer: Client, number: int) -> None:
        rng = Random(f"{seed} {number}")
        while time.monotonic() < until:
            await asyncio.sleep(rng.expovariate(1 / pace))
            assert racer.play is not None
            action = str(rng.choice(racer.play.board.legal_moves()))
            began = time.perf_counter()
            await racer.act(action)
            took.append(time.perf_counter() - began)
            racer.inbox.clear()
            racer.frames.clear()

    async with asyncio.TaskGroup() as group:
        for number, racer in enumerate(racers):
            group.create_task(play(racer, number))
    return sorted(took)

"""The price of a move: CPU time of a server for each acked move, as a ratio to that of a bare echo.

Server, echo and each load generator are processes of their own. Rounds of the server and of the echo alternate, so that a
busy machine slows both. The node commits to a Redis that writes to disk every second (``everysec``).
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from samedeal.options import MAX_PLAYERS
from tests.bench.load_generator import SEATS, LoadResult
from tests.child_processes import die_with_parent, kill_and_wait
from tests.load.processes import Usage, load_setup


@dataclass(frozen=True)
class Scenario:
    """A number of racers, each of whom makes ``pace`` moves a second. 0 means: as soon as the last one is acked.

    Each room has ``seats`` racers. The server has ``workers`` processes. If ``split`` is true, the racers of a room are
    on any of them.
    """

    name: str
    clients: int
    pace: float
    workers: int = 1
    split: bool = False
    seats: int = SEATS


@dataclass(frozen=True)
class Round:
    """One measurement: microseconds of CPU for each message, and the latencies in milliseconds."""

    cpu: float
    core: float
    load: LoadResult


@dataclass(frozen=True)
class Price:
    """The rounds of a scenario: those of the server, and those of the echo."""

    scenario: Scenario
    server: tuple[Round, ...]
    echo: tuple[Round, ...]

    @classmethod
    async def measure(cls, scenario: Scenario, racing: Sender, echoing: Sender, rounds: int, seconds: float) -> Price:
        """Alternate between rounds of the server and the echo. The first round of each does not count."""
        pairs = [
            (await racing.measure(seconds, scenario.pace), await echoing.measure(seconds, scenario.pace))
            for _ in range(rounds + 1)
        ][1:]
        return cls(scenario, tuple(server for server, _ in pairs), tuple(echoed for _, echoed in pairs))

    @property
    def cpu(self) -> float:
        """The server's CPU time for an acked move in microseconds: the median of all rounds."""
        return median(each.cpu for each in self.server)

    @property
    def ratios(self) -> list[float]:
        """For each round, the server's CPU time for an acked move in units of the echo's for a message."""
        return [server.cpu / echo.cpu for server, echo in zip(self.server, self.echo, strict=True)]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process and its children have used, from the scheduler's counters of nanoseconds."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    own = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    return own + sum(cpu_seconds(int(child)) for task in tasks for child in (task / "children").read_text().split())


class Sender:
    """A load generator, connected to a server whose process is ``server``."""

    def __init__(self, process: asyncio.subprocess.Process, server: int) -> None:
        self._process = process
        self._server = server

    @classmethod
    @asynccontextmanager
    async def start(cls, server: int, *command: str) -> AsyncIterator[Sender]:
        """Start a generator and wait until its racers may move."""
        async with child_process(*command) as process:
            sender = cls(process, server)
            await sender.read_line()
            yield sender

    async def measure(self, seconds: float, pace: float) -> Round:
        """Let the racers move for some time."""
        assert self._process.stdin is not None
        before = cpu_seconds(self._server)
        self._process.stdin.write(f"{seconds} {pace}\n".encode())
        load = LoadResult(**json.loads(await self.read_line()))
        spent = cpu_seconds(self._server) - before
        await self.read_line()
        return Round(1e6 * spent / load.moves, spent / seconds, load)

    async def read_line(self) -> str:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("a process of the benchmark ended")
        return line.decode()


@asynccontextmanager
async def child_process(*command: str, errors: int | None = None) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a command in another process, and kill it at the end. ``errors`` is where its standard error goes."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, preexec_fn=die_with_parent
    )
    try:
        yield process
    finally:
        await kill_and_wait(process)


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module of the tests."""
    return (sys.executable, "-m", module, *arguments)


def move_sender(port: int, clients: int, seats: int, seed: int, target: str) -> tuple[str, ...]:
    """Return the command that starts a load generator."""
    return python("tests.bench.load_generator", f"ws://127.0.0.1:{port}", str(clients), str(seats), str(seed), target)


@asynccontextmanager
async def echo_sender(clients: int, seed: int) -> AsyncIterator[Sender]:
    """Start an echo server and a generator for it."""
    async with child_process(*python("tests.bench.echo_server")) as echo:
        assert echo.stdout is not None
        port = int(await echo.stdout.readline())
        async with Sender.start(echo.pid, *move_sender(port, clients, SEATS, seed, "echo")) as sender:
            yield sender


async def measure(scenario: Scenario, rounds: int, seconds: float, seed: int = 1) -> Price:
    """Measure a scenario on a node of Samedeal."""
    async with AsyncExitStack() as stack:
        setup = await stack.enter_async_context(load_setup("everysec"))
        workers = ("--workers", str(scenario.workers)) if scenario.workers > 1 else ()
        module = "samedeal_server" if scenario.seats <= MAX_PLAYERS else "tests.bench.wide_rooms"
        node = await setup.node("--limit-actions-per-race", "1000000", *workers, module=module)
        target = "split" if scenario.split else "race"
        command = move_sender(node.target[1], scenario.clients, scenario.seats, seed, target)
        racing = await stack.enter_async_context(Sender.start(node.pid, *command))
        echoing = await stack.enter_async_context(echo_sender(scenario.clients, seed))
        return await Price.measure(scenario, racing, echoing, rounds, seconds)


async def idle_memory(connections: int) -> float:
    """Return the memory of a connection without a room, in kB."""
    async with load_setup() as setup:
        node = await setup.node()
        await setup.crowd(node, connections)  # the first connections also load code
        before = Usage.of(node.pid).memory
        await setup.crowd(node, connections)
        return (Usage.of(node.pid).memory - before) / connections / 1000


def row(price: Price) -> str:
    """Return a row of a table with the medians of all rounds, and the spread of the ratio."""
    server, echo = ([*rounds] for rounds in (price.server, price.echo))
    ratios = sorted(price.ratios)
    moves = median(each.load.moves / each.load.seconds for each in server)
    wire = median(each.load.bytes / each.load.moves for each in server)
    latencies = [median(1000 * getattr(each.load, name) for each in server) for name in ("median", "p99")]
    return (
        f"  {price.scenario.name:12} {price.scenario.clients:5} racers {moves:6.0f} moves/s"
        f" {price.cpu:6.1f} µs a move {median(each.cpu for each in echo):6.1f} µs an echo"
        f"  ratio {median(ratios):5.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        f"  ack {latencies[0]:.1f} ms, p99 {latencies[1]:.1f} ms  {wire:.0f} bytes a move"
    )

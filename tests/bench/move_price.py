"""The price of a move: CPU time of a server for each acked move, as a ratio to a bare echo that is measured beside it.

    python -m tests.bench.move_price [--rounds N] [--seconds S] [--only SCENARIO] [--json FILE]

Server, echo and each load generator are processes of their own. Rounds of the server and of the echo alternate, so that a
busy machine slows both. The node commits to a Redis that writes to disk every second (``everysec``), as a host would run it.
The report also has the stages of a move, each timed alone in this process, and the memory of a connection without a room.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

from tests.bench.move_sender import Load
from tests.bench.move_stages import stage_times
from tests.child_processes import die_with_parent, kill_and_wait
from tests.load.processes import Usage, load_setup


@dataclass(frozen=True)
class Scenario:
    """A number of racers, each of whom makes ``pace`` moves a second. 0 means: as soon as the last one is acked."""

    name: str
    clients: int
    pace: float


SCENARIOS: Final = (
    Scenario("closed loop", 64, 0.0),
    Scenario("human pace", 256, 2.0),
    Scenario("1,000 racers", 1000, 1.0),
    Scenario("3,000 racers", 3000, 1.0),
)

_GOAL_RATIO: Final = 2.0
_GOAL_MEMORY: Final = 20.0
"""The memory of an idle connection, in kB, that is the goal."""

_IDLE: Final = 1000
"""Number of connections without a room, whose memory is measured."""


@dataclass(frozen=True)
class Round:
    """One measurement: microseconds of CPU for each message, and the latencies in milliseconds."""

    cpu: float
    core: float
    load: Load


@dataclass(frozen=True)
class Price:
    """The rounds of a scenario: those of the server, and those of the echo."""

    scenario: Scenario
    server: tuple[Round, ...]
    echo: tuple[Round, ...]

    @property
    def ratios(self) -> list[float]:
        """For each round, the server's CPU time for an acked move in units of the echo's for a message."""
        return [server.cpu / echo.cpu for server, echo in zip(self.server, self.echo, strict=True)]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that all threads of a process have used, from the scheduler's counter of nanoseconds."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Sender:
    """A load generator, connected to a server whose process is ``server``."""

    def __init__(self, process: asyncio.subprocess.Process, server: int) -> None:
        self._process = process
        self._server = server

    @classmethod
    @asynccontextmanager
    async def start(cls, port: int, server: int, clients: int, seed: int, target: str) -> AsyncIterator[Sender]:
        """Start a generator and wait until its racers may move."""
        arguments = ("tests.bench.move_sender", str(port), str(clients), str(seed), target)
        async with child_process(*arguments) as process:
            sender = cls(process, server)
            await sender._read_line()
            yield sender

    async def measure(self, seconds: float, pace: float) -> Round:
        """Let the racers move for some time."""
        assert self._process.stdin is not None
        before = cpu_seconds(self._server)
        self._process.stdin.write(f"{seconds} {pace}\n".encode())
        load = Load(**json.loads(await self._read_line()))
        spent = cpu_seconds(self._server) - before
        await self._read_line()
        return Round(1e6 * spent / load.moves, spent / seconds, load)

    async def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("a process of the benchmark ended")
        return line.decode()


@asynccontextmanager
async def child_process(module: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a module of the tests in another process, and kill it at the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=die_with_parent,
    )
    try:
        yield process
    finally:
        await kill_and_wait(process)


async def measure(scenario: Scenario, rounds: int, seconds: float, seed: int = 1) -> Price:
    """Measure a scenario in alternating rounds of the server and the echo, after one round of each that does not count."""
    async with AsyncExitStack() as stack:
        setup = await stack.enter_async_context(load_setup())
        await setup.redis.do("CONFIG", "SET", "appendfsync", "everysec")
        node = await setup.node("--limit-actions-per-race", "1000000")
        echo = await stack.enter_async_context(child_process("tests.bench.echo_server"))
        assert echo.stdout is not None
        echo_port = int(await echo.stdout.readline())
        start, clients = stack.enter_async_context, scenario.clients
        racing = await start(Sender.start(node.target[1], node.pid, clients, seed, "race"))
        echoing = await start(Sender.start(echo_port, echo.pid, clients, seed, "echo"))
        pairs = [
            (await racing.measure(seconds, scenario.pace), await echoing.measure(seconds, scenario.pace))
            for _ in range(rounds + 1)
        ][1:]
    return Price(scenario, tuple(server for server, _ in pairs), tuple(echoed for _, echoed in pairs))


def report(price: Price) -> str:
    """Return the lines of a table with the medians of all rounds, and the spread of the ratio."""
    server, echo = ([*rounds] for rounds in (price.server, price.echo))
    ratios = sorted(price.ratios)
    moves = median(each.load.moves / each.load.seconds for each in server)
    wire = median((each.load.bytes_sent + each.load.bytes_received) / each.load.moves for each in server)
    latencies = [median(1000 * getattr(each.load, name) for each in server) for name in ("median", "p99")]
    return (
        f"  {price.scenario.name:12} {price.scenario.clients:5} racers {moves:6.0f} moves/s"
        f" {median(each.cpu for each in server):6.1f} µs a move {median(each.cpu for each in echo):6.1f} µs an echo"
        f"  ratio {median(ratios):5.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        f"  ack {latencies[0]:.1f} ms, p99 {latencies[1]:.1f} ms  {wire:.0f} bytes a move"
    )


async def idle_memory() -> float:
    """Return the memory of a connection without a room, in kB."""
    async with load_setup() as setup:
        node = await setup.node()
        await setup.crowd(node, _IDLE)  # the first connections also load code
        before = Usage.of(node.pid).memory
        await setup.crowd(node, _IDLE)
        return (Usage.of(node.pid).memory - before) / _IDLE / 1000


async def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", choices=[each.name for each in SCENARIOS])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    prices = []
    print(f"CPU of the server for each acked move (median of {options.rounds} rounds)", flush=True)
    for scenario in SCENARIOS:
        if options.only in (None, scenario.name):
            prices.append(await measure(scenario, options.rounds, options.seconds))
            print(report(prices[-1]), flush=True)
    print(f"  The goal of each ratio is {_GOAL_RATIO:g}.")
    memory = await idle_memory()
    print(f"Memory of a connection without a room: {memory:.1f} kB (goal: {_GOAL_MEMORY:g} kB)")
    stages = stage_times()
    print("Stages of a move, each alone: " + ", ".join(f"{name} {micros:.1f} µs" for name, micros in stages.items()))
    if options.json:
        found = {"prices": [asdict(price) for price in prices], "idle_memory_kB": memory, "stages_us": stages}
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    asyncio.run(main())

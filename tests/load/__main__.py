"""Load tests: tables of the cost of connections, and of the effect of load on the latency of racers.

    python -m tests.load [SCENARIO ...]

Latencies are compared with those of the same racers before and after the load, on the same machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.child_processes import kill_and_wait
from tests.load.flood import FLOODS
from tests.load.processes import LoadSetup, Usage, ack_latencies, end_flood, load_setup, race, url_of
from tests.server.client import Client

SECONDS: Final = 8.0
PACE: Final = 0.1
PROCESSES: Final = 4
FLOODERS: Final = ((30, 1), (500, 20))
"""Numbers of clients and of addresses in a flood. The sum of the clients' rates exceeds the rate of their addresses."""
ROOMS: Final = 50
"""Number of rooms in a list."""


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    shown = Table(*head, title=title, title_justify="left", box=None)
    for row in rows:
        shown.add_row(*map(str, row))
    Console(width=160).print("", shown)


def millis(latencies: Sequence[float], share: float) -> float:
    """Return the quantile ``share`` of sorted latencies, in milliseconds."""
    return 1000 * latencies[min(len(latencies) - 1, int(share * len(latencies)))]


async def compare_latency(
    what: str,
    racers: list[Client],
    node_pid: int,
    load: Callable[[], Awaitable[int]],
    unload: Callable[[], Awaitable[None]],
) -> list[object]:
    """Return a row with the cost of a load to the node, and the latency of racers with and without it."""
    before = await ack_latencies(racers, SECONDS, PACE, 1)
    empty = Usage.of(node_pid)
    count = await load()
    full = Usage.of(node_pid)
    began = time.monotonic()
    during = await ack_latencies(racers, SECONDS, PACE, 2)
    share = (Usage.of(node_pid).cpu - full.cpu) / (time.monotonic() - began)
    late = Usage.of(node_pid)
    await unload()
    after = await ack_latencies(racers, SECONDS, PACE, 3)
    calm = sorted(before + after)
    return [
        what,
        count,
        f"{(full.memory - empty.memory) / max(1, count) / 1024:.1f}",
        f"{(late.memory - empty.memory) / max(1, count) / 1024:.1f}",
        f"{100 * share:.0f} %",
        *(" ".join(f"{millis(found, share):.1f}" for share in QUANTILES) for found in (calm, during)),
        " ".join(f"{millis(during, share) / millis(calm, share):.2f}" for share in QUANTILES),
    ]


QUANTILES: Final = (0.5, 0.95, 0.99)
HEAD: Final = ("load", "count", "KiB each", "KiB after", "node CPU", "ack ms p50 p95 p99", "under load", "ratio")


async def crowd(setup: LoadSetup, what: str, count: int, *readings: str, watching: bool = False) -> list[object]:
    """Return a row for a crowd of idle connections, which read in these ways."""
    node = await setup.node("--limit-spectators-per-room", str(count))
    racers = await race(node, "racer", delay=0)
    crowds: list[asyncio.subprocess.Process] = []

    async def load() -> int:
        for number in range(PROCESSES):
            room = racers[0].room if watching else ""
            reading = readings[number % len(readings)] if readings else ""
            crowds.append(await setup.crowd(node, count // PROCESSES, room, reading))
        return count

    async def unload() -> None:
        for process in crowds:
            await kill_and_wait(process)

    row = await compare_latency(what, racers, node.pid, load, unload)
    await node.kill()
    return row


async def crowds(setup: LoadSetup) -> None:
    """Measure idle connections, and spectators in terminals and in browsers."""
    rows = [
        await crowd(setup, "idle", 3000),
        await crowd(setup, "spectators of one race", 1000, watching=True),
        await crowd(setup, "the same in browsers", 1000, "page", watching=True),
        await crowd(setup, "half of them in browsers", 2000, "page", "", watching=True),
    ]
    table("Idle clients", HEAD, rows)


async def flood(setup: LoadSetup, kind: str, count: int, addresses: int) -> list[object]:
    """Return a row for clients who send requests as fast as the default limits let their addresses."""
    node = await setup.node(limits=())
    racers = await race(node, "racer")
    for number in range(ROOMS // 5):
        host = await Client.hello(url_of(node), f"lobby-{number}")
        for _ in range(5):
            await host.create()
        await host.close()
    requests: list[asyncio.subprocess.Process] = []
    began = accepted = 0.0

    async def load() -> int:
        nonlocal began
        requests.append(await setup.flood(node, kind, count, addresses))
        began = time.monotonic()
        return count

    async def unload() -> None:
        nonlocal accepted
        took = time.monotonic() - began
        accepted = await end_flood(requests.pop()) / took

    *_, cpu, calm, during, ratio = await compare_latency(kind, racers, node.pid, load, unload)
    await node.kill()
    return [kind, count, addresses, f"{accepted:.0f}", cpu, calm, during, ratio]


async def floods(setup: LoadSetup) -> None:
    """Measure what floods of requests cost the racers of another room."""
    rows = [await flood(setup, kind, *size) for size in FLOODERS for kind in FLOODS]
    table("Floods of requests", ("flood", "clients", "addresses", "a second", *HEAD[4:]), rows)


SCENARIOS: Final[dict[str, Callable[[LoadSetup], Awaitable[None]]]] = {"crowds": crowds, "floods": floods}


async def run(names: Sequence[str]) -> None:
    """Run scenarios, each with its own processes."""
    for name in names or SCENARIOS:
        async with load_setup() as setup:
            await SCENARIOS[name](setup)


def main() -> int:
    """Run the named scenarios, or all."""
    command = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__.partition("\n")[0])
    command.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", choices=[*SCENARIOS, []], help=", ".join(SCENARIOS)
    )
    asyncio.run(run(command.parse_args().scenarios))
    return 0


if __name__ == "__main__":
    sys.exit(main())

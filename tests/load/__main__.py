"""What a node bears: tables of what connections cost it, and of what the load of some does to others.

    python -m tests.load [SCENARIO ...]

Latencies are compared with those of the same racers before the load and after it, on whatever else this machine is doing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from tests.load.stage import Stage, Usage, acks, gone, race, stage
from tests.server.client import Client

SECONDS: Final = 8.0
PACE: Final = 0.1
PROCESSES: Final = 4


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    lines = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    print(f"\n{title}")
    for line in lines:
        print(
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), flush=True
        )


def millis(took: Sequence[float], share: float) -> float:
    """A quantile in milliseconds."""
    return 1000 * took[min(len(took) - 1, int(share * len(took)))]


async def compared(
    what: str,
    racers: list[Client],
    node_pid: int,
    load: Callable[[], Awaitable[int]],
    unload: Callable[[], Awaitable[None]],
) -> list[object]:
    """A row: what a load costs the node for each of it, and what it does to the acks of racers."""
    before = await acks(racers, SECONDS, PACE, 1)
    empty = Usage.of(node_pid)
    count = await load()
    full = Usage.of(node_pid)
    began = time.monotonic()
    during = await acks(racers, SECONDS, PACE, 2)
    share = (Usage.of(node_pid).cpu - full.cpu) / (time.monotonic() - began)
    late = Usage.of(node_pid)
    await unload()
    after = await acks(racers, SECONDS, PACE, 3)
    calm = sorted(before + after)
    return [
        what,
        count,
        f"{(full.memory - empty.memory) / max(1, count) / 1024:.1f}",
        f"{(late.memory - empty.memory) / max(1, count) / 1024:.1f}",
        f"{100 * share:.0f} %",
        f"{millis(calm, 0.5):.1f} {millis(calm, 0.95):.1f}",
        f"{millis(during, 0.5):.1f} {millis(during, 0.95):.1f}",
        f"{millis(during, 0.5) / millis(calm, 0.5):.2f} {millis(during, 0.95) / millis(calm, 0.95):.2f}",
    ]


HEAD: Final = (*("load", "count", "KiB each", "KiB after", "node CPU", "ack ms p50 p95", "under load", "ratio"),)


async def crowd(there: Stage, what: str, count: int, *, watching: bool = False, deaf: bool = False) -> list[object]:
    """A row about many connections that do little."""
    node = await there.node()
    racers = await race(node, "racer", delay=0)
    came: list[asyncio.subprocess.Process] = []

    async def load() -> int:
        for _ in range(PROCESSES):
            room = racers[0].room if watching else ""
            came.append(await there.crowd(node, count // PROCESSES, room, deaf=deaf))
        return count

    async def unload() -> None:
        for each in came:
            await gone(each)

    row = await compared(what, racers, node.pid, load, unload)
    await node.kill()
    return row


async def crowds(there: Stage) -> None:
    """Idle connections, spectators, and spectators who read nothing."""
    rows = [
        await crowd(there, "idle", 3000),
        await crowd(there, "spectators of one race", 1000, watching=True),
        await crowd(there, "spectators who read nothing", 1000, watching=True, deaf=True),
    ]
    table("What is there and does little", HEAD, rows)


SCENARIOS: Final[dict[str, Callable[[Stage], Awaitable[None]]]] = {"crowds": crowds}


async def run(names: Sequence[str]) -> None:
    """Run scenarios, each on a stage of its own."""
    for name in names or SCENARIOS:
        async with stage() as there:
            await SCENARIOS[name](there)


def main() -> int:
    """Run what is named, or everything."""
    command = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__.partition("\n")[0])
    command.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", choices=[*SCENARIOS, []], help=", ".join(SCENARIOS)
    )
    asyncio.run(run(command.parse_args().scenarios))
    return 0


if __name__ == "__main__":
    sys.exit(main())

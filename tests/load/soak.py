"""A soak: the memory of a node and of its Redis while 2,000 racers play race after race.

    python -m tests.load.soak [MINUTES]

All racers play for two minutes and are then cut off, so their rooms end as after a failure of the network. Then new
racers come. Each line shows the memory at the end of these two minutes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Final

from redis.asyncio import Redis

from tests.bench.move_price import Sender, move_sender
from tests.load.processes import Usage, load_setup

RACERS: Final = 2000
SECONDS: Final = 120.0
"""Duration, in seconds, of the moves of one group of racers."""
PACE: Final = 1.0
"""Moves of a racer in a second."""
_MB: Final = 1e6


async def main(minutes: float = 30.0) -> None:
    print(f"{RACERS} racers, {PACE:g} move a second each\n\nminute      moves  p50 ms  p99 ms  Redis MB  node MB")
    async with load_setup() as setup:
        node = await setup.node("--limit-actions-per-race", "1000000")
        began = time.monotonic()
        generation = 0
        while time.monotonic() < began + 60 * minutes:
            generation += 1
            async with Sender.start(node.pid, *move_sender(node.target[1], RACERS, generation, "race")) as sender:
                load = (await sender.measure(SECONDS, PACE)).load
                memory = Usage.of(node.pid).memory / _MB
                async with Redis.from_url(setup.redis.url) as redis:
                    stored = float((await redis.info("memory"))["used_memory"]) / _MB
                minute = (time.monotonic() - began) / 60
                latencies = f"{1000 * load.median:6.0f}  {1000 * load.p99:6.0f}"
                bar = "█" * round(memory / 5)
                print(f"{minute:6.1f}  {load.moves:9}  {latencies}  {stored:8.1f}  {memory:7.1f} {bar}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*map(float, sys.argv[1:])))

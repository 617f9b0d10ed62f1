"""The price of spectators of one race: how late they see its moves, and how much slower its racers are acked."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from tests.load.processes import ack_latencies, load_setup, race

_DELAY: Final = 1
"""The delay of the room's boards, in seconds."""

_PACE: Final = 0.5
"""Mean time, in seconds, between two moves of a racer."""


@dataclass(frozen=True)
class SpectatorPrice:
    """The lateness of moves for spectators beyond the delay, and the median latency of acks with and without them.

    All times are in milliseconds.
    """

    spectators: int
    median: float
    p99: float
    ack: float
    ack_without: float


async def spectator_price(count: int, seconds: float) -> SpectatorPrice:
    """Measure a race of four with ``count`` spectators."""
    async with load_setup("everysec") as setup:
        node = await setup.node("--limit-spectators-per-room", str(count))
        racers = await race(node, "racer", delay=_DELAY)
        without = await ack_latencies(racers, seconds, _PACE, 1)
        crowd = await setup.crowd(node, count, racers[0].room, "timed")
        assert crowd.stdin is not None
        assert crowd.stdout is not None
        await asyncio.sleep(2 * _DELAY)
        crowd.stdin.write(b"begin\n")  # moves that were made before all were connected do not count
        await crowd.stdout.readline()
        watched = await ack_latencies(racers, seconds, _PACE, 2)
        await asyncio.sleep(2 * _DELAY)
        crowd.stdin.write(b"end\n")
        ages = json.loads(await crowd.stdout.readline())
    return SpectatorPrice(
        count,
        *(1000 * (ages[name] - _DELAY) for name in ("median", "p99")),
        *(1000 * acks[len(acks) // 2] for acks in (watched, without)),
    )

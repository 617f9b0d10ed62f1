"""The gaps between acks while a cluster loses a primary or a replica, in its own rooms and in the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.server.cluster_rooms import races
from tests.server.live_nodes import serving
from tests.server.persistent_player import PersistentPlayer
from tests.server.redis_kinds import Shards, shards

SECONDS = 8.0
"""Duration, in seconds, for which the server is lost. The measurement then goes on for half of that time."""


async def kill(cluster: Shards) -> None:
    await cluster.servers[0].kill()


async def freeze(cluster: Shards) -> None:
    cluster.servers[0].freeze()


async def freeze_replica(cluster: Shards) -> None:
    cluster.replicas[0].freeze()


async def thaw(cluster: Shards) -> None:
    cluster.servers[0].thaw()


async def thaw_replica(cluster: Shards) -> None:
    cluster.replicas[0].thaw()


async def start(cluster: Shards) -> None:
    await cluster.servers[0].start()


ClusterChange = Callable[[Shards], Awaitable[None]]


async def longest_gap(racer: PersistentPlayer, over: asyncio.Event) -> float:
    """Return the longest gap, in seconds, between two acks of a racer."""
    longest, last, count = 0.0, time.monotonic(), -1
    while not over.is_set() and count < len(racer.acked):
        count = len(racer.acked)
        await racer.moves(1)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return longest


@pytest.mark.parametrize(
    ("what", "lose", "heal", "replicated", "replicas"),
    [
        ("killed, a replica takes over", kill, start, True, 0),
        ("frozen, a replica takes over", freeze, thaw, True, 0),
        ("killed, with no replica", kill, start, False, 0),
        ("frozen, with no replica", freeze, thaw, False, 0),
        ("whose replica is frozen, with --replicas 1", freeze_replica, thaw_replica, True, 1),
    ],
)
async def test_acks_while_a_primary_is_lost(
    what: str, lose: ClusterChange, heal: ClusterChange, replicated: bool, replicas: int, tmp_path: Path
) -> None:
    with capture_logs():
        async with (
            shards(tmp_path, replicated=replicated) as cluster,
            serving(cluster.url, "one", replicas=replicas) as one,
            serving(cluster.url, "two", replicas=replicas) as two,
        ):
            racers = await races([one, two])
            stop = asyncio.Event()
            measuring = [asyncio.create_task(longest_gap(racer, stop)) for racer in racers]
            await asyncio.gather(lose(cluster), asyncio.sleep(SECONDS))
            await asyncio.gather(heal(cluster), asyncio.sleep(SECONDS / 2))
            stop.set()
            found = await asyncio.gather(*measuring)
    print(f"\na primary {what}: no ack for {max(found[:2]):.1f} s in its rooms, {max(found[2:]):.2f} s in the others")

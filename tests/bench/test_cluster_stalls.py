"""How long acks stay away on a cluster of which one primary, or its replica, is lost: in its own rooms and in the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.server.conftest import serving
from tests.server.redis_kinds import Shards, shards
from tests.server.steady import Steady
from tests.server.test_lost_primaries import races

SECONDS = 8.0
"""For which what is lost is away, and for which the clients then have to be back."""


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


Deed = Callable[[Shards], Awaitable[None]]


async def longest(racer: Steady, over: asyncio.Event) -> float:
    """Seconds between two acks of a racer, at the most, until something is done or there is no move left."""
    most, last, count = 0.0, time.monotonic(), -1
    while not over.is_set() and count < len(racer.acked):
        count = len(racer.acked)
        await racer.moves(1)
        now = time.monotonic()
        most, last = max(most, now - last), now
    return most


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
    what: str, lose: Deed, heal: Deed, replicated: bool, replicas: int, tmp_path: Path
) -> None:
    with capture_logs():
        async with (
            shards(tmp_path, replicated=replicated) as cluster,
            serving(cluster.url, "one", replicas=replicas) as one,
            serving(cluster.url, "two", replicas=replicas) as two,
        ):
            racers = await races([one, two])
            over = asyncio.Event()
            going = [asyncio.create_task(longest(racer, over)) for racer in racers]
            await asyncio.gather(lose(cluster), asyncio.sleep(SECONDS))
            await asyncio.gather(heal(cluster), asyncio.sleep(SECONDS / 2))
            over.set()
            found = await asyncio.gather(*going)
    print(f"\na primary {what}: no ack for {max(found[:2]):.1f} s in its rooms, {max(found[2:]):.2f} s in the others")

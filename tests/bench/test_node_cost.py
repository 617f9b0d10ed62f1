"""The cost of players to a node, for capacity planning: memory for each player, and CPU time and storage for each move."""

from __future__ import annotations

import sys
import time

import pytest
from redis.asyncio import Redis

from tests.chaos.processes import RedisServer
from tests.load.processes import Usage, ack_latencies, load_setup, race

ROOMS = 25
PLAYERS = 8
SECONDS = 30.0
PAUSES = (1.0, 0.1)
"""Mean times, in seconds, between two moves of a player: those of a quick human, and a rate beyond any human."""


async def redis_size(server: RedisServer) -> tuple[int, int]:
    """Return the sizes of Redis's memory and of its append-only file, in bytes."""
    async with Redis.from_url(server.url) as redis:
        found = await redis.info()
    return found["used_memory"], found["aof_current_size"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
async def test_node_cost() -> None:
    async with load_setup() as setup:
        node = await setup.node()
        rows = [("at the start", Usage.of(node.pid))]
        clients = [client for number in range(ROOMS) for client in await race(node, f"p{number}", PLAYERS)]
        rows.append((f"{len(clients)} in {ROOMS} races, before a move", Usage.of(node.pid)))
        size_before = await redis_size(setup.redis)
        paces, made = [], 0
        for pause in PAUSES:
            began, before = time.monotonic(), Usage.of(node.pid)
            moves = len(await ack_latencies(clients, SECONDS, pause, 1))
            took, used = time.monotonic() - began, Usage.of(node.pid)
            paces.append((moves / took, (used.cpu - before.cpu) / moves, (used.cpu - before.cpu) / took))
            rows.append((f"the same, {moves} moves later", used))
            made += moves
        kept = [
            (after - before) / made for before, after in zip(size_before, await redis_size(setup.redis), strict=True)
        ]
    print(f"\nA node with {len(clients)} players")
    for label, used in rows:
        print(f"  {label:40} {used.memory / 2**20:6.1f} MiB {used.cpu:6.2f} s of CPU")
    for what, one, other in (("a connection with a seat in a race", 0, 1), ("its moves", 1, 2)):
        print(f"  {what:40} {(rows[other][1].memory - rows[one][1].memory) / 1024 / len(clients):6.1f} KiB each")
    for rate, each, core in paces:
        cost = f"{each * 1e6:4.0f} µs of CPU each, including the broadcast to all players; {core:.0%} of a core"
        print(f"  {rate:4.0f} moves a second: {cost}")
    print(f"  a move in Redis: {kept[0]:.0f} bytes of memory, {kept[1]:.0f} of its append-only file")

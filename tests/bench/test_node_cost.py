"""The cost of players to a node, for capacity planning: memory for each player and CPU time for each move."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from random import Random

import pytest
from redis.asyncio import Redis

from samedeal.protocol.messages import Done, Start
from tests.chaos.processes import Node, RedisServer
from tests.load.processes import NO_LIMITS, Usage, url_of
from tests.server.client import Client

ROOMS = 25
PLAYERS = 8
MOVES = 30
PAUSES = (1.0, 0.1)
"""Mean times, in seconds, between two moves of a player: those of a quick human, and a rate beyond any human."""


async def redis_size(server: RedisServer) -> tuple[int, int]:
    """Return the sizes of Redis's memory and of its append-only file, in bytes."""
    async with Redis.from_url(server.url) as redis:
        found = await redis.info()
    return found["used_memory"], found["aof_current_size"]


async def play(client: Client, rng: Random, pause: float) -> int:
    """Make moves, ``pause`` seconds apart on average. Return their number, which is less than MOVES on a stuck board."""
    for count in range(MOVES):
        await asyncio.sleep(rng.expovariate(1 / pause))
        moves = client.play.board.legal_moves()
        if not moves:
            return count
        await client.act(str(rng.choice(moves)))
        client.frames.clear()
        client.inbox.clear()
    return MOVES


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
async def test_node_cost(tmp_path: Path) -> None:
    redis = RedisServer(tmp_path)
    await redis.start()
    node = await Node.start(redis.url, tmp_path / "node.log", *NO_LIMITS)
    process, url = node.pid, url_of(node)
    try:
        rows = [("at the start", Usage.of(process))]
        clients = [await Client.hello(url, f"p{number}") for number in range(ROOMS * PLAYERS)]
        rows.append((f"{len(clients)} in the lobby", Usage.of(process)))
        for first in range(0, len(clients), PLAYERS):
            room = await clients[first].create(games=("willow",), limit=600, players=PLAYERS)
            for client in clients[first : first + PLAYERS]:
                await client.join(room)
            await clients[first].expect(Done, Start)
        for client in clients:
            await client.dealt()
        rows.append((f"{len(clients)} in {ROOMS} races, before a move", Usage.of(process)))
        size_before = await redis_size(redis)
        paces = []
        for pause in PAUSES:
            began, before = time.monotonic(), Usage.of(process)
            moves = sum(await asyncio.gather(*(play(each, Random(at), pause) for at, each in enumerate(clients))))
            took = time.monotonic() - began
            spent = Usage.of(process).cpu - before.cpu
            paces.append((moves / took, spent / moves, spent / took))
            rows.append((f"the same, {moves} moves later", Usage.of(process)))
        made = sum(client.play.moves for client in clients)
        kept = [(after - before) / made for before, after in zip(size_before, await redis_size(redis), strict=True)]
    finally:
        await node.kill()
        await redis.kill()
    print(f"\nA node with {len(clients)} players")
    for label, used in rows:
        print(f"  {label:40} {used.memory / 2**20:6.1f} MiB {used.cpu:6.2f} s of CPU")
    for what, one, other in (("a connection", 0, 1), ("a seat in a race", 1, 2), ("its moves", 2, 3)):
        print(f"  {what:40} {(rows[other][1].memory - rows[one][1].memory) / 1024 / len(clients):6.1f} KiB each")
    for rate, each, core in paces:
        cost = f"{each * 1e6:4.0f} µs of CPU each, including the broadcast to all players; {core:.0%} of a core"
        print(f"  {rate:4.0f} moves a second: {cost}")
    print(f"  a move in Redis: {kept[0]:.0f} bytes of memory, {kept[1]:.0f} of its append-only file")

"""What players cost a node, as an operator plans with it: memory for each, and processor time for each of their moves."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Self

import pytest
from redis.asyncio import Redis

from samedeal.protocol.messages import Done, Start
from tests.chaos.stage import Node, RedisServer
from tests.server.client import Client

ROOMS = 25
PLAYERS = 8
MOVES = 30
PAUSES = (1.0, 0.1)
"""Seconds between two moves of a player, in the mean: a quick one's, and what no hand does."""

FREE = (
    *("--limit-connections-per-address", "10000", "--limit-rooms-per-address", "10000", "--log-level", "warning"),
    *("--limit-sessions-per-address", "10000", "--limit-address-rate", "100000", "--limit-address-burst", "100000"),
)


@dataclass(frozen=True)
class Used:
    """What a process has used up to now: KiB of memory of its own, seconds of CPU."""

    memory: int
    cpu: float

    @classmethod
    def by(cls, process: int) -> Self:
        place = Path(f"/proc/{process}")
        shares = dict(line.split(":", 1) for line in (place / "smaps_rollup").read_text().splitlines()[1:])
        ticks = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
        return cls(int(shares["Pss"].split()[0]), sum(map(int, ticks)) / 100)


async def size(server: RedisServer) -> tuple[int, int]:
    """Bytes that a Redis holds, in memory and in its append-only file."""
    async with Redis.from_url(server.url) as redis:
        found = await redis.info()
    return found["used_memory"], found["aof_current_size"]


async def play(client: Client, rng: Random, pause: float) -> int:
    for count in range(MOVES):
        await asyncio.sleep(rng.expovariate(1 / pause))
        moves = client.play.board.legal_moves() if client.play else []
        if not moves:
            return count
        await client.act(str(rng.choice(moves)))
        client.frames.clear()
        client.inbox.clear()
    return MOVES


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
async def test_players_and_moves(tmp_path: Path) -> None:
    redis = RedisServer(tmp_path)
    await redis.start()
    node = await Node.start(redis.url, tmp_path / "node.log", *FREE)
    process, url = node._process.pid, "ws://{}:{}".format(*node.target)
    try:
        rows = [("at the start", Used.by(process))]
        clients = [await Client.hello(url, f"p{number}") for number in range(ROOMS * PLAYERS)]
        rows.append((f"{len(clients)} in the lobby", Used.by(process)))
        for first in range(0, len(clients), PLAYERS):
            room = await clients[first].create(games=("willow",), limit=600, players=PLAYERS)
            for client in clients[first : first + PLAYERS]:
                await client.join(room)
            await clients[first].want(Done, Start)
        for client in clients:
            await client.dealt()
        rows.append((f"{len(clients)} in {ROOMS} races, before a move", Used.by(process)))
        held = await size(redis)
        paces = []
        for pause in PAUSES:
            began, before = time.monotonic(), Used.by(process)
            moves = sum(await asyncio.gather(*(play(each, Random(at), pause) for at, each in enumerate(clients))))
            took = time.monotonic() - began
            spent = Used.by(process).cpu - before.cpu
            paces.append((moves / took, spent / moves, spent / took))
            rows.append((f"the same, {moves} moves later", Used.by(process)))
        made = sum(client.play.moves for client in clients if client.play)
        kept = [(after - before) / made for before, after in zip(held, await size(redis), strict=True)]
    finally:
        await node.kill()
        await redis.kill()
    print(f"\nA node with {len(clients)} players")
    for label, used in rows:
        print(f"  {label:40} {used.memory / 1024:6.1f} MiB {used.cpu:6.2f} s of CPU")
    for what, one, other in (("a connection", 0, 1), ("a seat in a race", 1, 2), ("its moves", 2, 3)):
        print(f"  {what:40} {(rows[other][1].memory - rows[one][1].memory) / len(clients):6.1f} KiB each")
    for rate, each, core in paces:
        cost = f"{each * 1e6:4.0f} µs of CPU each, with what all are told of it; {core:.0%} of a core"
        print(f"  {rate:4.0f} moves a second: {cost}")
    print(f"  a move in Redis: {kept[0]:.0f} bytes of memory, {kept[1]:.0f} of its append-only file")

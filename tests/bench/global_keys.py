"""What the global keys cost, and so the rate of races that one primary of a cluster carries.

A cluster spreads rooms, sessions and records over its primaries, but the indexes of rooms, the list of records, the news,
the bans and the orders are one key each. A monitor shows which commands races and an idle node send to these keys. The
commands on each key are then repeated alone, with other rooms, and the CPU time of Redis is measured.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from samedeal.protocol.admin import BanLine
from samedeal.protocol.codec import pack
from samedeal.protocol.messages import Done, ListRooms, Rooms, Start
from samedeal_server.store import keys
from tests.bench.move_price import cpu_seconds
from tests.load.processes import LoadSetup, load_setup, url_of
from tests.server.client import Client
from tests.server.races import draw, finish, seated

GLOBAL: Final = (keys.ROOMS, keys.LISTED, keys.DUE, keys.RECORDS, keys.NEWS, keys.BANS, keys.ORDERS)

_SEATS: Final = 4
_BANS: Final = 1000
"""Number of bans that each node reads every two seconds: as many as there can be."""
_CONNECTIONS: Final = 16
_PERIODIC: Final = {b"HVALS", b"XRANGE", b"ZRANGEBYSCORE", b"ZREVRANGE"}
"""The commands that a node sends at intervals, whether there are races or not."""

Command = tuple[bytes, ...]


@dataclass(frozen=True)
class GlobalKeyCost:
    """The commands on a key for a race of four players, and those of an idle node in a second while somebody lists rooms.

    The costs are the CPU time of Redis for them, in microseconds.
    """

    key: str
    race_commands: float
    race_cost: float
    node_commands: float
    node_cost: float


async def global_key_costs(races: int, idle_seconds: int, repeated: int) -> list[GlobalKeyCost]:
    """Measure what each of the global keys costs. Repeat about ``repeated`` commands on each key."""
    async with load_setup("everysec") as setup, Redis.from_url(setup.redis.url) as redis:
        bans = [
            BanLine(target=f"203.0.{number // 256}.{number % 256}", since=0, until=0, reason="Bots came from there.")
            for number in range(_BANS)
        ]
        await redis.hset(keys.BANS, mapping={ban.target: pack(ban) for ban in bans})
        node = await setup.node()
        async with _monitored(setup) as of_races:
            for number in range(races):
                await _race(url_of(node), f"bench-{number}")
        lobby = await Client.hello(url_of(node))
        async with _monitored(setup) as of_node:
            for _ in range(idle_seconds):
                await lobby.expect(Rooms, ListRooms)
                await asyncio.sleep(1)
        await node.kill()
        costs = []
        for key in GLOBAL:
            racing = [each for each in of_races if key.encode() in each[1:4] and each[0] not in _PERIODIC]
            reading = [each for each in of_node if key.encode() in each[1:4] and each[0] in _PERIODIC]
            costs.append(
                GlobalKeyCost(
                    key.removeprefix(keys.PREFIX),
                    len(racing) / races,
                    await _cpu(setup, racing, repeated) / races,
                    len(reading) / idle_seconds,
                    await _cpu(setup, reading, repeated // 10) / idle_seconds,
                )
            )
        return costs


async def _race(url: str, room: str) -> None:
    """Race on a winnable deal in a public room until all players have resigned."""
    names = [f"player{seat}" for seat in range(_SEATS)]
    racers = await seated(url, names=names, room=room, games=("willow",), deal="winnable", players=_SEATS)
    await racers[0].expect(Done, Start)
    await draw(*racers)
    await finish(*racers)
    await asyncio.sleep(1)  # the record and the news come after the end
    for racer in racers:
        await racer.close()


@asynccontextmanager
async def _monitored(setup: LoadSetup) -> AsyncIterator[list[Command]]:
    """Collect the commands that Redis executes for clients."""
    reader, writer = await asyncio.open_unix_connection(setup.redis.target)
    found: list[Command] = []

    async def read() -> None:
        while line := await reader.readline():
            source, _, command = line.decode("latin-1").partition("] ")
            if command and not source.endswith(" lua"):
                found.append(tuple(ast.literal_eval(f"b{part}") for part in re.findall(r'"(?:[^"\\]|\\.)*"', command)))

    reading = asyncio.create_task(read())
    writer.write(b"MONITOR\r\n")
    try:
        yield found
    finally:
        reading.cancel()
        writer.close()


async def _cpu(setup: LoadSetup, commands: list[Command], repeated: int) -> float:
    """Return the CPU time of Redis for commands, in microseconds. Each repetition is about rooms of its own."""
    if not commands:
        return 0
    times = max(1, repeated // len(commands))
    async with Redis.from_url(setup.redis.url) as redis:
        pid = (await redis.info("server"))["process_id"]
        turns = iter(range(times))

        async def repeat() -> None:
            async with redis.client() as connection:
                for turn in turns:
                    for command in commands:
                        await connection.execute_command(  # type: ignore[no-untyped-call]  # redis-py has no type for it
                            *(each.replace(b"bench-", b"bench%d-" % turn) for each in command)
                        )

        before = cpu_seconds(pid)
        async with asyncio.TaskGroup() as group:
            for _ in range(_CONNECTIONS):
                group.create_task(repeat())
        return 1e6 * (cpu_seconds(pid) - before) / times


def rows(costs: list[GlobalKeyCost]) -> list[str]:
    """Return the rows of a table, and a sentence about the key that costs most."""
    most = max(costs, key=lambda cost: cost.race_cost)
    return [
        *(
            f"  {cost.key:12} a race: {cost.race_commands:4.1f} commands, {cost.race_cost:5.0f} µs"
            f"   a second of a node: {cost.node_commands:3.1f} commands, {cost.node_cost:5.0f} µs"
            for cost in costs
        ),
        f"  One core carries {1e6 / most.race_cost:,.0f} races a second on the key {most.key!r}, which costs most.",
    ]

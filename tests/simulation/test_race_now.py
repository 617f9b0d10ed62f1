"""Two people press *Race now* on two nodes at nearly the same time, in a world."""

from __future__ import annotations

import asyncio

from samedeal.protocol.messages import Created, RaceNow
from samedeal_server.rooms.race_now import PERIOD, SHORTEST_WAIT
from tests.server.client import Client
from tests.simulation.loop import SimulatedLoop
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis
from tests.simulation.world import simulated

PRESSES = 25
LONGEST_GAP = 0.5


async def meetings(loop: SimulatedLoop, presses: int) -> list[tuple[str, ...]]:
    """Let two people press so many times, around the last moment for a start. Return the rooms of each time."""
    redis = SimulatedRedis(loop)
    await redis.start()
    nodes = [await SimulatedNode(loop, f"node-{number}", redis.url).started() for number in (1, 2)]
    nodes[1].host.clock = 7.0
    found = []
    for number in range(presses):
        ana, bob = [await Client.hello("ws://{}:{}".format(*node.target), node.host.name) for node in nodes]
        last_moment = -((1000 * loop.true_time() + SHORTEST_WAIT) % -PERIOD) / 1000
        await asyncio.sleep(last_moment + PERIOD / 1000 + loop.random.uniform(-2 * LONGEST_GAP, LONGEST_GAP))
        first, second = (ana, bob) if number % 2 else (bob, ana)
        gap = loop.random.uniform(0, LONGEST_GAP)
        rooms = await asyncio.gather(room_of(first), after(gap, second))
        found.append(tuple(rooms))
        for player in (ana, bob):
            await player.close()
    return found


async def room_of(player: Client) -> str:
    room = (await player.expect(Created, RaceNow, game="willow")).room
    await player.join(room)
    return room


async def after(seconds: float, player: Client) -> str:
    await asyncio.sleep(seconds)
    return await room_of(player)


def test_people_who_press_at_nearly_the_same_time_meet() -> None:
    with simulated("race now") as loop:
        found = loop.run_until_complete(loop.world.run(meetings(loop, PRESSES)))
    assert [rooms for rooms in found if len({*rooms}) > 1] == []

"""Somebody races alone, and the house dies: in a world, before the draw, in it, or in the race."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from samedeal.games import DEFAULT_GAME
from samedeal_bots.house import House
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.client_session import ClientSession
from tests.simulation.loop import Host, SimulatedLoop
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis
from tests.simulation.world import simulated

KEY = "the key of this house"
PATIENCE = 120.0
"""Deadline, in seconds of the world, for a race to begin or to end."""


async def reached(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 (time passes at once)
            await asyncio.sleep(0.1)


def started_house(loop: SimulatedLoop, url: str, number: int) -> Host:
    host = loop.host(f"house-{number}")
    _ = host.run(House(parse_address(url), KEY, 3, host.log.append, Random(f"{loop.seed} {number}")).run())
    return host


async def lone_races(loop: SimulatedLoop, key_file: Path) -> None:
    """Race twice. The first house is killed at some moment, and another one comes instead of it."""
    redis = SimulatedRedis(loop)
    await redis.start()
    node = await SimulatedNode(loop, "node", redis.url, "--house-key-file", str(key_file)).started()
    url = "ws://{}:{}".format(*node.target)
    house = started_house(loop, url, 1)

    async def replace_house() -> None:
        await asyncio.sleep(loop.random.uniform(5, 60))
        house.stand_still()
        loop.network.disconnect(house)
        await asyncio.sleep(1)
        started_house(loop, url, 2)

    async with Link(parse_address(url), "ana", MemorySessions()) as link:
        ana = ClientSession(link)
        running, replacing = asyncio.create_task(ana.run()), asyncio.create_task(replace_house())
        await ana.join(await ana.rooms.race_now(DEFAULT_GAME))
        await reached(lambda: ana.model.phase == "racing" and ana.model.board)
        await asyncio.sleep(loop.random.uniform(1, 30))
        await ana.rooms.resign()
        await reached(lambda: ana.model.phase == "finished")
        assert ana.model.evidence is not None
        assert not ana.model.evidence.contradiction
        await replacing
        await ana.join(rematch := await ana.rooms.rematch())
        await reached(lambda: ana.model.is_in(rematch) and any(seat.house for seat in ana.model.this_room.players))
        running.cancel()


@pytest.mark.parametrize("seed", [0, 80, 152])
def test_lone_player_races_although_the_house_dies(seed: int, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    with simulated(f"house {seed}") as loop:
        loop.run_until_complete(loop.world.run(lone_races(loop, tmp_path / "key")))

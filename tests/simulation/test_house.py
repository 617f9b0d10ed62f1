"""Somebody races alone, and the house dies: in a world, before the draw, in it, or in the race."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from samedeal.games import DEFAULT_GAME
from samedeal.race.seats import MOST_HOUSE
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.client_session import ClientSession
from tests.simulation.loop import SimulatedLoop
from tests.simulation.node import SimulatedNode, started_house
from tests.simulation.plan import make_world, with_lone_race
from tests.simulation.redis_server import SimulatedRedis
from tests.simulation.world import known_deals, run_world, simulated

KEY = "the key of this house"
PATIENCE = 120.0
"""Deadline, in seconds of the world, for a race to begin or to end."""


async def reached(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 (time passes at once)
            await asyncio.sleep(0.1)


async def lone_races(loop: SimulatedLoop, key_file: Path) -> None:
    """Race twice. The first house is killed at some moment, and another one comes instead of it."""
    redis = SimulatedRedis(loop)
    await redis.start()
    node = await SimulatedNode(loop, "node", redis.url, "--house-key-file", str(key_file)).started()
    url = "ws://{}:{}".format(*node.target)
    house = started_house(loop, url, KEY)

    async def replace_house() -> None:
        await asyncio.sleep(loop.random.uniform(5, 60))
        house.stand_still()
        loop.network.disconnect(house)
        await asyncio.sleep(1)
        started_house(loop, url, KEY)

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


@pytest.mark.parametrize("seed", [9, 31, 39])
def test_promises_hold_while_somebody_races_alone(seed: int) -> None:
    plan = with_lone_race(make_world(seed, known_deals()))
    verdict = run_world(plan)
    assert not verdict.violations, f"{plan}\n" + "\n".join(verdict.violations)
    assert verdict.outcome.kept == MOST_HOUSE, plan


@pytest.mark.parametrize("seed", [0, 80, 152])
def test_lone_player_races_although_the_house_dies(seed: int, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    with simulated(f"house {seed}") as loop:
        loop.run_until_complete(loop.world.run(lone_races(loop, tmp_path / "key")))

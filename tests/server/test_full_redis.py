"""Redis takes no writes any more: what happens to players who are racing, and to those who come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from samedeal.protocol.messages import Act, Done, Join, Start
from samedeal.sentences import refused
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.dial import CannotConnect
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from tests.server.live_nodes import Node, RedisClient
from tests.server.real_clients import check_and_finish, play_random_moves, races
from tests.server.waiting import until


@asynccontextmanager
async def full(redis: RedisClient) -> AsyncIterator[None]:
    await redis.config_set("maxmemory", 1)
    try:
        yield
    finally:
        await redis.config_set("maxmemory", 0)


def counted(node: Node, name: str, **labels: str) -> float:
    return node.rooms.metrics.registry.get_sample_value(f"samedeal_{name}", labels) or 0.0


async def test_players_keep_connections_and_moves_while_redis_is_full(one: Node, redis: RedisClient) -> None:
    async with races([one], "friday") as racers:
        for racer in racers:
            await play_random_moves(racer, 3, Random(1))
        before = counted(one, "connections_opened_total")
        async with full(redis):
            moving = [asyncio.create_task(play_random_moves(racer, 1, Random(2))) for racer in racers]
            await until(lambda: counted(one, "moves_total", outcome="unavailable") >= 4)
            assert not any(move.done() for move in moving)
        await asyncio.gather(*moving)
        assert counted(one, "connections_opened_total") == before
        await check_and_finish(one.rooms.store, racers)


async def test_new_player_is_told_that_nothing_can_be_saved(one: Node, redis: RedisClient) -> None:
    async with full(redis):
        with pytest.raises(CannotConnect, match=str(refused("store_rejects"))):
            await Link(parse_address(one.url), "eve", MemorySessions()).__aenter__()


async def test_refused_move_says_that_nothing_was_saved(one: Node, redis: RedisClient) -> None:
    ana = await one.player()
    await ana.join(await ana.create(games=("athena",), countdown=0))
    await ana.expect(Done, Start)
    await ana.dealt()
    async with full(redis):
        assert (await ana.refused("unavailable", Act, revision=0, action="draw")).revision == 0
        assert (await ana.refused("unavailable", Join, room=ana.room)).revision == -1
    await ana.join(ana.room)
    await ana.act("draw")

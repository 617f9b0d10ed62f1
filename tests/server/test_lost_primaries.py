"""Tests of a Redis Cluster that loses a primary during races.

Its rooms continue once a replica takes over. The rooms of the other primaries are not affected.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from samedeal.protocol.messages import Acked, Act
from samedeal_server.store import redis_client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.plain_http import ask
from tests.server.races import answered, race
from tests.server.real_clients import check_and_finish, play_random_moves, playing, races
from tests.server.redis_kinds import ENDS_SERVERS, ROOMS, Server, Shards
from tests.server.waiting import TIMEOUT, until

pytestmark = ENDS_SERVERS


async def test_killed_primary_loses_no_replicated_move(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Shards(tmp_path, replicated=True) as cluster:
        nodes = [await node(redis=cluster.url, replicas=1), await node(redis=cluster.url, replicas=1)]
        ana, _ = await race(*nodes, room=ROOMS[0], games=("athena",))
        cluster.replicas[0].freeze()
        monkeypatch.setattr(redis_client, "REPLICATION_TIMEOUT", 0.1)
        await ana.refused("unavailable", Act, id=77, revision=0, action="draw")
        # The primary has the move in its log now. It must not be acked before the replica of that primary has it too.
        await ana.refused("unavailable", Act, id=77, revision=0, action="draw")
        cluster.replicas[0].thaw()
        monkeypatch.undo()
        assert isinstance(await answered(ana, Act, id=77, revision=0, action="draw"), Acked)

        async with races(nodes, *ROOMS[1:]) as racers:
            async with playing(racers):
                await cluster.servers[1].kill()
                await cluster.taken_over(1)
                await cluster.servers[1].start()
            await check_and_finish(nodes[0].store, racers)


async def test_lost_primary_affects_only_its_rooms(tmp_path: Path, node: NodeMaker) -> None:
    async with Shards(tmp_path) as cluster:
        url = f"{cluster.url}?socket_timeout=2"
        nodes = [await node(redis=url, health_port=0), await node(redis=url)]
        health = nodes[0].health_url
        async with races(nodes, *ROOMS) as racers:
            lost, affected, others = cluster.servers[0], racers[:2], racers[2:]
            for frozen in (True, False):
                await asyncio.gather(*(play_random_moves(racer, 3, Random(1)) for racer in racers))
                before = [len(racer.model.own.actions) for racer in affected]
                if frozen:
                    lost.freeze()
                else:
                    await lost.kill()
                retrying = [asyncio.create_task(play_random_moves(racer, 2, Random(2))) for racer in affected]
                async with asyncio.timeout(TIMEOUT):
                    await asyncio.gather(*(play_random_moves(racer, 15, Random(3)) for racer in others))
                assert [len(racer.model.own.actions) for racer in affected] == before
                await until(lambda: is_ready(health, without=lost))
                assert await refreshes_players(nodes[0], ROOMS[1:])
                if frozen:
                    lost.thaw()
                else:
                    await lost.start()
                await until(lambda: is_ready(health))
                await asyncio.gather(*retrying)
            await check_and_finish(nodes[1].store, racers)
        for server in cluster.servers:
            await server.kill()
        await until(lambda: is_not_ready(health))


async def refreshes_players(one: Node, rooms: Sequence[str]) -> bool:
    """Return whether one report of presence of a node updates when its players in these rooms were last seen."""

    async def last_seen() -> list[int]:
        hubs = [one.rooms.hubs[room] for room in rooms]
        found = [(hub.audience.seats, await one.store.load_progress(hub.race)) for hub in hubs]
        return [progress[player].last_seen for seats, progress in found for player in seats]

    before = await last_seen()
    await one.upkeep.report_presence()
    return bool(before) and all(after > seen for after, seen in zip(await last_seen(), before, strict=True))


async def is_ready(health: str, without: Server | None = None) -> bool:
    """Return whether a node is ready, and reports exactly the given primary as lost."""
    answer = await ask(health, "/readyz")
    lost = set(re.findall(r"127\.0\.0\.1:\d+", answer.text))
    return answer.status == 200 and lost == ({without.address} if without else set())


async def is_not_ready(health: str) -> bool:
    """Return whether a node is not ready."""
    return (await ask(health, "/readyz")).status == 503

"""A Redis Cluster that loses a primary in mid-race: its rooms go on where a replica takes over, and the others anyhow."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from samedeal.options import WantedOptions
from samedeal.protocol.messages import Acked, Act, Done, Resign
from samedeal_server.store import connect, database
from samedeal_server.store.redis import Store
from tests.server.conftest import Node, NodeMaker
from tests.server.redis_kinds import PATIENCE, shards, until
from tests.server.steady import Steady, check_log
from tests.server.test_cluster import ROOMS
from tests.server.test_health import Listen, Listener, listen
from tests.server.test_lag import came_to, play, seat, wait
from tests.server.test_replicas import answered
from tests.server.test_rooms import race

pytestmark = [
    pytest.mark.usefixtures("half_made_connections"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # as the fixture says
]

__all__ = ["listen"]  # a fixture


async def races(nodes: list[Node]) -> list[Steady]:
    """Two who race in a room on each of the primaries, in their order, and go on through anything."""
    pairs = [await race(*nodes, room=room, games=("athena",), undo="free") for room in ROOMS]
    return [Steady(client, nodes, seed) for seed, client in enumerate(client for pair in pairs for client in pair)]


async def end_well(store: Store, racers: list[Steady]) -> None:
    """All that was acked is there once, and every race comes to its end."""
    for racer in racers:
        await check_log(store, racer)
        assert isinstance(await answered(racer.client, Resign), Done)
    for racer in racers:
        assert len((await racer.client.phase("finished")).standings) == 2


async def test_a_primary_that_is_killed_takes_nothing_with_it_that_its_replica_was_waited_for(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shards(tmp_path, replicated=True) as cluster:
        nodes = [await node(redis=cluster.url, replicas=1), await node(redis=cluster.url, replicas=1)]
        racers = await races(nodes)
        ana = racers[0].client
        cluster.replicas[0].freeze()
        monkeypatch.setattr(database, "WAIT_AT_MOST", 0.1)
        await ana.refused("unavailable", Act, id=77, revision=0, action="draw")
        # It is in its primary's log by now: that alone must not ack it, nor that the other primaries have their replicas.
        await ana.refused("unavailable", Act, id=77, revision=0, action="draw")
        cluster.replicas[0].thaw()
        monkeypatch.undo()
        acked = await answered(ana, Act, id=77, revision=0, action="draw")
        assert isinstance(acked, Acked)
        ana.apply("draw", acked)
        racers[0].acked.append((77, "draw"))

        over = asyncio.Event()
        going = [asyncio.create_task(racer.until(over)) for racer in racers]
        await cluster.servers[1].kill()
        await cluster.taken_over(1)
        await cluster.servers[1].start()
        over.set()
        await asyncio.gather(*going)
        await asyncio.gather(*(racer.moves(5) for racer in racers))
        await end_well(nodes[0].store, racers)


async def test_what_the_replica_of_a_killed_primary_lacks_is_given_back(tmp_path: Path, node: NodeMaker) -> None:
    async with shards(tmp_path, replicated=True) as cluster, AsyncExitStack() as stack:
        nodes = [await node(redis=cluster.url), await node(redis=cluster.url)]
        tables = [await seat(stack, one, name) for one, name in zip(nodes, ("ana", "bob"), strict=True)]
        room = await tables[0].create(WantedOptions(games=("athena",), countdown=0).granted, ROOMS[1])
        for table in tables:
            await table.join(room)
        await tables[0].start()
        await wait(lambda: all(table.model.play for table in tables))
        for number, table in enumerate(tables):
            await play(table, 3, Random(number))
        await cluster.fall_behind(1)
        for number, table in enumerate(tables):
            await play(table, 4, Random(10 + number))
        logs = [await nodes[0].store.log(room, table.link.player) for table in tables]
        await cluster.servers[1].kill()
        await cluster.take_over(1)
        for table, log in zip(tables, logs, strict=True):
            player = table.link.player
            await until(lambda player=player: came_to(nodes[1], room, player, 7))  # type: ignore[misc]  # a default in a lambda
            assert await nodes[1].store.log(room, player) == log
            assert not table.model.astray
            await play(table, 3, Random(20))


async def test_a_primary_that_nothing_stands_in_for_takes_its_own_rooms_away_and_no_other(
    tmp_path: Path, node: NodeMaker, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_ANSWER_TIMEOUT", 2.0)
    async with shards(tmp_path) as cluster:
        nodes = [await node(redis=cluster.url), await node(redis=cluster.url)]
        health = await listen(nodes[0])
        racers = await races(nodes)
        victim, theirs, others = cluster.servers[0], racers[:2], racers[2:]
        for frozen in (True, False):
            await asyncio.gather(*(racer.moves(3) for racer in racers))
            before = [len(racer.acked) for racer in theirs]
            if frozen:
                victim.freeze()
            else:
                await victim.kill()
            back = asyncio.Event()
            trying = [asyncio.create_task(racer.until(back)) for racer in theirs]
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(racer.moves(30) for racer in others))
            assert [len(racer.acked) for racer in theirs] == before
            await until(lambda: says(health, 200, victim.address))
            assert await refreshed(nodes[0], ROOMS[1:])
            if frozen:
                victim.thaw()
            else:
                await victim.start()
            await until(lambda: says(health, 200, "takes clients\n"))
            back.set()
            await asyncio.gather(*trying)
        await end_well(nodes[1].store, racers)
        for server in cluster.servers:
            await server.kill()
        await until(lambda: says(health, 503, "does not take what is written"))


async def refreshed(one: Node, rooms: Sequence[str]) -> bool:
    """Whether a node, by looking after all its rooms once, says that who is in these is still here."""
    before = await here(one, rooms)
    await one.rooms._refresh()
    after = await here(one, rooms)
    return len(before) > 0 and all(after[player] > at for player, at in before.items())


async def here(one: Node, rooms: Sequence[str]) -> dict[str, int]:
    """When the players of a node who are in rooms were last said to be there."""
    hubs = [one.rooms.hubs[room] for room in rooms]
    return {player: (await one.store.runs(hub.race))[player].here for hub in hubs for player in hub.seats}


async def says(health: Listener, status: int, what: str) -> bool:
    """Whether a node answers so who asks whether it is ready."""
    answered, text = await health.get("/readyz")
    return answered == status and what in text

"""Tests of replicas: a move is acked only once they have it, so a failover loses no acked move."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from samedeal.protocol.messages import Acked, Act, Done, Hello, Join, Resign, Welcome
from samedeal_server.errors import StoreUnavailable
from samedeal_server.store import redis_client
from tests.server.client import Client
from tests.server.commits import commit_of
from tests.server.expected_errors import refused
from tests.server.live_nodes import NodeMaker
from tests.server.races import answered, race
from tests.server.real_clients import check_and_finish, play_random_moves, playing, races
from tests.server.redis_kinds import ENDS_SERVERS, Pair, SentinelSetup

pytestmark = ENDS_SERVERS


async def test_moves_with_too_few_replicas_are_not_acked(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that too few replicas have confirmed is refused, and can be sent again."""
    async with Pair(tmp_path) as redis:
        one = await node(redis=f"redis://{redis.primary.address}", replicas=1)
        ana, bob = await race(one, games=("athena",))
        await ana.acts(3)
        room = await ana.create()
        redis.replica.freeze()
        monkeypatch.setattr(redis_client, "REPLICATION_TIMEOUT", 0.1)
        await ana.refused("unavailable", Act, id=77, revision=3, action="draw")
        # The primary has the move in its log now. A repeated request must not be acked before the replica has it too.
        await ana.refused("unavailable", Act, id=77, revision=3, action="draw")
        # Nor may the refusal of another action tell the client of the board after that move.
        await ana.refused("unavailable", Act, id=78, revision=3, action="draw")
        await bob.refused("unavailable", Resign)
        await bob.refused("unavailable", Resign)
        await bob.refused("unavailable", Join, room=room)
        eve = await Client.connect(one.url)
        await eve.refused("unavailable", Hello, name="eve")
        redis.replica.thaw()
        monkeypatch.undo()
        assert isinstance(await answered(ana, Act, id=77, revision=3, action="draw"), Acked)
        assert isinstance(await answered(bob, Resign), Done)
        assert isinstance(await answered(eve, Hello, name="eve"), Welcome)
        assert [entry.request for entry in await one.store.load_log(ana.room, ana.player)].count(77) == 1


async def test_repeated_move_waits_for_replicas(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that only the primary has is not acked, whichever way its repetition takes."""
    async with Pair(tmp_path) as redis:
        url = f"redis://{redis.primary.address}"
        one, two = await node(redis=url, replicas=1), await node(redis=url, replicas=1)
        ana, _ = await race(one, games=("athena",))
        room, player = ana.room, ana.player
        await two.stop_tasks()
        redis.replica.freeze()
        monkeypatch.setattr(redis_client, "REPLICATION_TIMEOUT", 0.1)
        await ana.refused("unavailable", Act, id=77, revision=0, action="draw")
        hub = one.rooms.hubs[room]
        seat, _ = hub.audience.seats[player]
        # Another connection to the primary has written nothing that its WAIT could cover.
        repeated = commit_of(player, seat.generation, room=room, request=77)
        with pytest.raises(StoreUnavailable):
            await two.store.commit(repeated)
        # A node may have read the move from the log before replicas have it.
        replayed = await hub.replay.replay(player)
        assert replayed is not None
        seat.play, seat.head = replayed
        assert seat.play.revision == 1
        await ana.refused("unavailable", Act, id=77, revision=0, action="draw")
        redis.replica.thaw()
        monkeypatch.undo()
        acked = await answered(ana, Act, id=77, revision=0, action="draw")
        assert isinstance(acked, Acked)
        assert (await two.store.commit(repeated)).outcome == "repeated"


async def test_generation_waits_for_replicas(tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failover must not revive a connection that a newer one has replaced."""
    async with Pair(tmp_path) as redis:
        one = await node(redis=f"redis://{redis.primary.address}", replicas=1)
        ana, _ = await race(one, games=("athena",))
        redis.replica.freeze()
        monkeypatch.setattr(redis_client, "REPLICATION_TIMEOUT", 0.1)
        with pytest.raises(StoreUnavailable):
            await one.store.connect_player(ana.room, ana.player)
        redis.replica.thaw()


async def test_node_does_not_start_with_too_few_replicas(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "REPLICATION_TIMEOUT", 0.1)
    async with Pair(tmp_path) as redis:
        with refused("redis_replicas"):
            await node(redis=f"redis://{redis.primary.address}", replicas=2)


async def test_failover_keeps_acked_moves(tmp_path: Path, node: NodeMaker) -> None:
    async with SentinelSetup(tmp_path) as redis:
        nodes = [await node(redis=redis.url, replicas=1), await node(redis=redis.url, replicas=1)]
        async with races(nodes, "friday") as racers:
            await asyncio.gather(*(play_random_moves(racer, 10, Random(at)) for at, racer in enumerate(racers)))
            async with playing(racers):
                await redis.fail_over()
                await redis.primary.start("--replicaof", "127.0.0.1", str(redis.replica.port))
            await check_and_finish(nodes[0].store, racers)

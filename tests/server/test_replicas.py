"""What replicas have before it is acked, and what a failover to one costs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from samedeal.protocol.messages import Acked, Act, Done, Hello, Join, Resign, Welcome
from samedeal_server.errors import StartupError
from samedeal_server.store import database
from tests.server.client import Client
from tests.server.conftest import NodeMaker
from tests.server.redis_kinds import replicated, watched
from tests.server.steady import Steady, check_log
from tests.server.test_rooms import race

pytestmark = [
    pytest.mark.usefixtures("half_made_connections"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # as the fixture says
]


async def test_nothing_is_acked_that_too_few_replicas_have(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariant 2, for those who ask for more than one disk: what is not known to be kept is refused, and asked again."""
    async with replicated(tmp_path) as (primary, replica):
        one = await node(redis=f"redis://{primary.address}", replicas=1)
        ana, bob = await race(one, games=("athena",))
        await ana.acts(3)
        room = await ana.create()
        replica.freeze()
        monkeypatch.setattr(database, "WAIT_AT_MOST", 0.1)
        await ana.refused("unavailable", Act, id=77, revision=3, action="draw")
        # It is in the primary's log by now, and sending it again finds it there: that alone must not ack it.
        await ana.refused("unavailable", Act, id=77, revision=3, action="draw")
        await bob.refused("unavailable", Resign)
        await bob.refused("unavailable", Resign)
        await bob.refused("unavailable", Join, room=room)
        eve = await Client.connect(one.url)
        await eve.refused("unavailable", Hello, name="eve")
        replica.thaw()
        monkeypatch.undo()
        acked = await answered(ana, Act, id=77, revision=3, action="draw")
        assert isinstance(acked, Acked)
        assert acked.revision == 4
        assert isinstance(await answered(bob, Resign), Done)
        assert isinstance(await answered(eve, Hello, name="eve"), Welcome)
        assert [entry.request for entry in await one.store.log(ana.room, ana.player)].count(77) == 1


async def answered(client: Client, kind: Any, **fields: Any) -> object:
    """Ask until it is not refused for want of the store."""
    async with asyncio.timeout(10):
        while getattr(answer := await client.ask(kind, **fields), "code", "") == "unavailable":
            pass
    return answer


async def test_a_node_does_not_start_on_fewer_replicas_than_it_is_to_wait_for(
    tmp_path: Path, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_AT_MOST", 0.1)
    async with replicated(tmp_path) as (primary, _):
        with pytest.raises(StartupError, match=r"[01] of 2 replicas .* --replicas says, or lower it") as refused:
            await node(redis=f"redis://{primary.address}", replicas=2)
    assert refused.value.code == "redis_replicas"


async def test_a_primary_that_is_killed_in_mid_race_costs_no_acked_move(tmp_path: Path, node: NodeMaker) -> None:
    async with watched(tmp_path) as redis:
        nodes = [await node(redis=redis.url, replicas=1), await node(redis=redis.url, replicas=1)]
        pair = await race(*nodes, games=("athena",), undo="free")
        racers = [Steady(client, nodes, seed) for seed, client in enumerate(pair)]
        await asyncio.gather(*(racer.moves(10) for racer in racers))
        over = asyncio.Event()
        going = [asyncio.create_task(racer.until(over)) for racer in racers]
        await redis.primary.kill()
        await redis.failed_over()
        await redis.primary.start("--replicaof", "127.0.0.1", str(redis.replica.port))
        over.set()
        await asyncio.gather(*going)
        await asyncio.gather(*(racer.moves(10) for racer in racers))
        for racer in racers:
            await check_log(nodes[0].store, racer)
            assert isinstance(await answered(racer.client, Resign), Done)
        for racer in racers:
            assert len((await racer.client.phase("finished")).standings) == 2

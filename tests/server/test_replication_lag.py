"""Tests of a failover to a replica that lacks the newest acked moves. Clients recover them; forged moves are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from samedeal.protocol.messages import Acked, AckedAction, Act, Done, Join, Joined, Recover, Start
from samedeal.protocol_codes import CloseCode
from samedeal_server.store import keys
from tests.chaos.proxy import Proxy
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.races import lose_moves, race, record
from tests.server.real_clients import connected
from tests.server.redis_kinds import LaggingReplica
from tests.server.waiting import until


class Lagging(NamedTuple):
    """The URL of a Redis, and the pair behind it."""

    url: str
    pair: LaggingReplica


@pytest.fixture
async def lagging(tmp_path: Path) -> AsyncIterator[Lagging]:
    async with LaggingReplica(tmp_path) as pair, Proxy(lambda: [pair.target]) as proxy:
        yield Lagging(f"redis://127.0.0.1:{proxy.port}/0", pair)


async def test_acked_finish_survives_a_rollback(lagging: Lagging, node: NodeMaker) -> None:
    one, won = await node(redis=lagging.url), record("willow")
    options: dict[str, Any] = {"games": ("willow",), "deal": str(won.deal), "first_finish_ends": True, "countdown": 0}
    async with connected(one, names=("ana",), room="friday", **options) as (ana,):
        bob = await one.player("bob")
        await bob.join("friday")
        await ana.start()
        await until(lambda: ana.model.own.play)
        for _, action in won.actions[:-4]:
            ana.act(action)
        await until(lambda: not ana.model.own.pending)
        await lagging.pair.fall_behind()
        for _, action in won.actions[-4:]:
            ana.act(action)
        finished = await bob.phase("finished")
        bob.inbox.clear()
        await lagging.pair.fail_over()
        await bob.phase("racing")
        assert (await bob.phase("finished")).standings == finished.standings
        await until(lambda: ana.model.this_room.standings == finished.standings)


def acked_actions(acked: list[tuple[int, str, Acked]]) -> tuple[AckedAction, ...]:
    return tuple(AckedAction(id=number, action=action, time=answer.time) for number, action, answer in acked)


async def acked_moves(client: Client, count: int) -> list[tuple[int, str, Acked]]:
    """Make a number of moves. Return the id, the action and the ack of each."""
    return [(100 + number, "draw", await client.act("draw", id=100 + number)) for number in range(count)]


async def test_recovery_accepts_only_own_acked_moves(redis: RedisClient, one: Node) -> None:
    ana, bob = await race(one, games=("athena",))
    moves, others = await acked_moves(ana, 3), await acked_moves(bob, 3)
    elsewhere, _ = await race(one, games=("athena",))
    theirs = await acked_moves(elsewhere, 3)
    await lose_all(redis, one, ana)
    again = await one.player("ana", ana.session)
    joined = await again.expect(Joined, Join, room=ana.room, revision=3)
    assert joined.revision == 0
    good = {"revision": 0, "actions": acked_actions(moves), "receipt": moves[-1][2].receipt}
    for forged in (
        {"receipt": bytes(16)},
        {"receipt": b""},
        {"receipt": moves[1][2].receipt},
        {"receipt": others[-1][2].receipt},
        {"receipt": theirs[-1][2].receipt},
        {"actions": acked_actions(moves)[:2]},
        {"actions": (*acked_actions(moves)[:2], replace(acked_actions(moves)[2], time=moves[2][2].time - 1))},
        {"actions": acked_actions(others), "receipt": others[-1][2].receipt},
        {"actions": acked_actions(theirs), "receipt": theirs[-1][2].receipt},
    ):
        await again.refused("bad_receipt", Recover, **{**good, **forged})
    await again.refused("stale", Recover, **{**good, "revision": 1})
    assert await one.store.load_log(ana.room, ana.player) == []
    await again.expect(Done, Recover, **good)
    log = await one.store.load_log(ana.room, ana.player)
    assert [(entry.request, entry.action, entry.committed_at) for entry in log] == [
        (each.id, each.action, each.time) for each in acked_actions(moves)
    ]
    await again.expect(Done, Recover, **good)
    again.play = ana.play
    again.inbox.clear()
    assert await again.expect(Acked, Act, id=102, revision=2, action="draw") == replace(moves[2][2], to=102)
    await again.act("draw")


async def test_recovery_of_other_than_the_logged_moves_is_stale(node: NodeMaker) -> None:
    ana, _ = await race(await node(), games=("athena",))
    moves = await acked_moves(ana, 3)
    good = {"revision": 0, "actions": acked_actions(moves), "receipt": moves[-1][2].receipt}
    await ana.expect(Done, Recover, **good)
    for action, time in (("1 2", moves[2][2].time), ("draw", 1)):
        other = AckedAction(id=102, action=action, time=time)
        await ana.refused("stale", Recover, **{**good, "actions": (*acked_actions(moves)[:2], other)})
    await ana.act("draw")


async def lose_all(redis: RedisClient, one: Node, client: Client) -> None:
    """Delete a player's moves from Redis, and wait until the node has closed the player's connection."""
    await lose_moves(redis, client.room, client.player)
    await one.rooms.hubs[client.room].pull()
    assert await client.closed() == CloseCode.RESTART


async def test_receipt_of_an_earlier_room_is_refused(redis: RedisClient, one: Node) -> None:
    """A later room may have the same code, players and deal."""
    ana, bob = await race(one, games=("athena",), deal="#7")
    room = ana.room
    moves = await acked_moves(ana, 2)
    await redis.flushall()
    await one.upkeep.refresh()
    for client in (ana, bob):
        await client.phase("closed")
    await ana.create(room, games=("athena",), deal="#7")
    for client in (ana, bob):
        await client.join(room)
    await ana.expect(Done, Start)
    await ana.dealt()
    await ana.refused("bad_receipt", Recover, revision=0, actions=acked_actions(moves), receipt=moves[-1][2].receipt)


@pytest.mark.parametrize("fields", [{"revision": 2}, {"generation": 1}], ids=["stale", "fenced"])
async def test_move_after_a_rollback_makes_the_player_rejoin(
    redis: RedisClient, one: Node, fields: dict[str, int]
) -> None:
    """The node has missed the rollback. Only the refused commit shows it."""
    ana, _ = await race(one, games=("athena",))
    await ana.acts(3)
    await redis.hset(keys.progress(ana.room, ana.player), mapping=fields)
    await ana.refused("unavailable", Act, revision=3, action="draw")
    assert await ana.closed() == CloseCode.RESTART


async def test_presence_report_after_a_rollback_makes_players_rejoin(redis: RedisClient, one: Node) -> None:
    ana, _ = await race(one, games=("athena",))
    await redis.hset(keys.progress(ana.room, ana.player), "generation", 1)
    await one.upkeep.report_presence()
    assert await ana.closed() == CloseCode.RESTART


async def test_recovery_after_time_is_up_is_refused(redis: RedisClient, one: Node) -> None:
    ana, _ = await race(one, games=("athena",))
    moves = await acked_moves(ana, 1)
    while await one.store.now() <= moves[0][2].time:
        pass  # only a move in a later millisecond is too late
    moves.append((101, "draw", await ana.act("draw", id=101)))
    await lose_all(redis, one, ana)
    await redis.hset(keys.meta(ana.room), "ends", moves[-1][2].time)
    again = await one.player("ana", ana.session)
    await again.expect(Joined, Join, room=ana.room, revision=2)
    await again.refused("time_up", Recover, revision=0, actions=acked_actions(moves), receipt=moves[-1][2].receipt)
    assert len(await one.store.load_log(ana.room, ana.player)) == 1

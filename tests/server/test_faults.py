"""Faults: Redis down, killed or emptied, lost announcements, wrong clocks, concurrent requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from samedeal.protocol.messages import (
    Act,
    Created,
    Done,
    Join,
    Ready,
    Rematch,
    Resign,
    RoomState,
    Start,
)
from samedeal_server.store import keys
from tests.server.client import DEADLINE
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.races import finish, race, seated


async def test_emptied_redis_closes_the_room(redis: RedisClient, one: Node) -> None:
    ana, bob = await race(one)
    await ana.acts(3)
    await redis.flushall()
    await ana.refused("no_room", Act, revision=3, action="draw")
    await ana.refused("no_room", Resign)
    await one.upkeep.refresh()
    for client in (ana, bob):
        await client.phase("closed")
        await client.refused("no_seat", Ready)
    assert not one.rooms.hubs
    assert [key async for key in redis.scan_iter(match="samedeal:{*")] == []


async def test_rooms_whose_tick_fails_do_not_delay_others(redis: RedisClient, one: Node) -> None:
    ana, _ = await race(one)
    await one.stop_tasks()
    await redis.hset(keys.meta(ana.room), "ends", 1)
    await redis.zadd(keys.DUE, {ana.room: 2})
    for number in range(100):  # as many as a sweep reads
        await redis.hset(keys.meta(f"broken{number}"), "phase", "racing")
        await redis.zadd(keys.DUE, {f"broken{number}": 1})
    await one.upkeep.sweep()
    await one.upkeep.sweep()
    snapshot = await one.rooms.load(ana.room)
    assert snapshot.race.phase == "finished"


async def test_truncated_stream_reloads_the_room(redis: RedisClient, node: NodeMaker) -> None:
    unsubscribed, other = await node(), await node()
    ana, bob = await race(unsubscribed, other)
    watcher = await unsubscribed.player("wat")
    await watcher.watch(ana.room)
    await watcher.phase("racing")
    await unsubscribed.stop_tasks()
    await bob.acts(9)
    await redis.xtrim(keys.events(ana.room), maxlen=2, approximate=False)
    await unsubscribed.upkeep.refresh()
    for client in (ana, watcher):
        assert (await client.state(lambda state: any(tally.moves == 9 for tally in state.tallies))).phase == "racing"
    await ana.act("draw")


async def test_change_whose_answer_was_lost_is_recognized(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    (ana,) = await seated(one, names=["ana"], countdown=60)
    compare_and_set = one.store.compare_and_set

    async def send_twice(*arguments: Any) -> bool:
        await compare_and_set(*arguments)
        return await compare_and_set(*arguments)

    monkeypatch.setattr(one.store, "compare_and_set", send_twice)
    await ana.expect(Done, Start)
    await ana.phase("countdown")


async def test_node_keeps_nothing_of_disconnected_clients(one: Node) -> None:
    """Invariant: everything is bounded."""
    clients = [await one.player(f"p{number}") for number in range(6)]
    room = await clients[0].create(players=3, delay=0)
    for client in clients[:3]:
        await client.join(room)
    for client in clients[3:]:
        await client.watch(room)
    await clients[5].refused("no_room", Join, room="nowhere")
    again = await one.player("p0", clients[0].session)
    await again.join(room)
    for client in clients[1:4]:
        await client.abort()
    for client in [again, *clients[4:]]:
        await client.close()
    await one.gateway.wait_closed(DEADLINE)
    assert one.followed() == set()
    assert (one.gateway.connections, one.gateway.handshakes.open_by_network) == (set(), {})
    snapshot = await one.rooms.load(room)
    assert [run.connected for run in snapshot.progress.values()] == [False, False, False]


async def test_concurrent_rematches_get_the_same_room(one: Node, two: Node) -> None:
    ana, bob = await seated(one, two, room="friday", games=("athena", "steve"), deal="#4821", passphrase="sesam")
    await ana.expect(Done, Start)
    await bob.phase("racing")
    await ana.refused("not_over", Rematch)
    await finish(ana, bob)
    answers = await asyncio.gather(*(client.ask(Rematch) for client in (ana, bob)))
    assert {answer.room for answer in answers if isinstance(answer, Created)} == {"friday-2"}
    named = await bob.state(lambda state: state.next != "")
    assert named.next == "friday-2"
    assert named.next_by in {ana.player, bob.player}
    cid = await one.player("cid")
    await cid.refused("bad_passphrase", Join, room="friday-2")
    await cid.join("friday-2", passphrase="sesam")
    state = await cid.until(RoomState, lambda state: state.room == "friday-2")
    assert (state.game, state.deal, state.private, state.phase) == ("steve", "#4822", True, "open")
    assert state.options.deal == "#4822"


@pytest.mark.parametrize("early", [True, False])
async def test_rematch_is_never_in_another_player_s_room(one: Node, early: bool) -> None:
    eve = await one.player("eve")
    if early:
        await eve.create("friday-2", games=("steve",))
    (ana,) = await race(one, names=["ana"], room="friday", games=("willow",))
    await finish(ana)
    if not early:
        await eve.create("friday-2", games=("steve",))
    second = (await ana.expect(Created, Rematch)).room
    assert second != "friday-2"
    await ana.join(second)
    assert (await ana.until(RoomState, lambda state: state.room == second)).game == "willow"

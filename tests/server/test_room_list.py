"""The list of rooms is read once for all clients, and changes of an open room are sent together."""

from __future__ import annotations

import asyncio

import pytest

from samedeal.protocol.messages import DeclareStuck, Done, Leave, Ping, Pong, Ready, RoomState, Start
from samedeal_server.errors import StoreUnavailable
from samedeal_server.rooms import progress_updates
from samedeal_server.rooms.cached_value import LIST_LIFETIME
from samedeal_server.rooms.room_list import RoomList, choose
from samedeal_server.store import keys
from samedeal_server.store.room_indexes import ListedRoom
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.manual_timers import ManualTimers
from tests.server.races import seated


async def reads(redis: RedisClient) -> int:
    """How often the index of rooms was read."""
    return int((await redis.info("commandstats")).get("cmdstat_zrevrange", {"calls": 0})["calls"])


async def test_list_is_read_once_for_all_clients(one: Node, redis: RedisClient) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    timers = ManualTimers()
    rooms = RoomList(one.store, timers)
    before = await reads(redis)
    assert await asyncio.gather(*(rooms.lines() for _ in range(20))) == [()] * 20
    await (await one.player()).create("friday")
    assert await rooms.lines() == ()
    assert await reads(redis) == before + 1
    timers.advance(LIST_LIFETIME)
    assert [line.room for line in await rooms.lines()] == ["friday"]
    assert await reads(redis) == before + 2


NOW = 1_000_000_000


def chosen(rooms: str) -> str:
    """The rooms to list. In ``rooms`` each has its origin, a name and, if it is empty, its age in seconds."""
    parts = [room.split() for room in rooms.split(", ")]
    lines = [
        ListedRoom(origin.strip("-"), name, NOW - 1000 * int(age[0]) if age else NOW, empty=bool(age))
        for origin, name, *age in parts
    ]
    return " ".join(line.room for line in choose(lines, NOW))


def test_each_origin_has_a_share_of_the_list() -> None:
    assert chosen("a one, b two, a three 5") == "one two three"
    assert chosen("a one, b two 119, b three 121") == "one two"
    assert chosen("a 1, a 2, a 3, a 4, a 5, a 6, b 7, a 8, a 9 3, b 10 4") == "1 2 3 4 5 7 10 6 8 9"
    assert chosen("- 1, - 2, - 3, - 4, - 5, - 6, b 7") == "1 2 3 4 5 6 7"
    assert chosen("a later -7200, a lost 7200") == "later"


async def test_rooms_with_players_are_listed_first(one: Node, two: Node) -> None:
    ana, bob = await one.player("ana"), await two.player("bob")
    for room in ("friday", "monday", "sunday"):
        await ana.create(room)
    await ana.join("monday")
    await bob.join("friday")
    listed = [line.room for line in await RoomList(two.store, ManualTimers()).lines()]
    assert listed == ["monday", "friday", "sunday"]
    await bob.expect(Done, Leave)
    assert [line.room for line in await RoomList(one.store, ManualTimers()).lines()] == ["monday", "sunday", "friday"]


async def test_index_for_lists_is_written_only_when_a_room_fills_or_empties(one: Node, redis: RedisClient) -> None:
    ana, bob = await seated(one, one)
    await redis.delete(keys.LISTED, keys.ROOMS)
    await bob.expect(Done, Ready)
    await bob.expect(Done, Leave)
    assert await redis.exists(keys.LISTED, keys.ROOMS) == 0
    assert await redis.zcard(keys.DUE) == 1
    await ana.expect(Done, Leave)
    assert await redis.exists(keys.LISTED, keys.ROOMS) == 2


async def test_room_that_is_gone_leaves_the_list(one: Node, redis: RedisClient) -> None:
    await (await one.player()).create("friday")
    await redis.delete(keys.meta("friday"))
    assert await RoomList(one.store, ManualTimers()).lines() == ()
    assert await redis.zcard(keys.LISTED) == 0


async def test_list_that_failed_is_read_again(one: Node, redis: RedisClient) -> None:
    rooms = RoomList(one.store, ManualTimers())
    await redis.set(keys.LISTED, "not a sorted set")
    with pytest.raises(StoreUnavailable):
        await rooms.lines()
    await redis.delete(keys.LISTED)
    assert await rooms.lines() == ()


async def test_changes_that_are_not_urgent_are_sent_together(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    monkeypatch.setattr(progress_updates, "PROGRESS_INTERVAL", 1e6)
    one = await node()
    ana, bob = await seated(one)
    await ana.expect(Pong, Ping)
    ana.inbox.clear()
    for number in range(11):
        await bob.expect(Done, Ready, ready=number % 2 == 0)
    await ana.expect(Pong, Ping)
    assert ana.inbox == []
    one.rooms.hubs[ana.room].updates.flush()
    await ana.expect(Pong, Ping)
    (state,) = [message for message in ana.inbox if isinstance(message, RoomState)]
    assert [player.ready for player in state.players] == [False, True]
    await ana.expect(Done, Start)
    await bob.phase("racing")  # the start of a race is sent at once
    await ana.dealt()
    await bob.dealt()
    await bob.expect(Pong, Ping)
    bob.inbox.clear()
    await ana.expect(Done, DeclareStuck)
    await bob.expect(Pong, Ping)
    assert bob.inbox == []

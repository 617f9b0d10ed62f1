"""The list of rooms is read once for all clients, and changes of an open room are sent together."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from samedeal.protocol.messages import Done, Ping, Pong, Ready, RoomState, Start
from samedeal_server.errors import StoreUnavailable
from samedeal_server.loop_timers import Timers
from samedeal_server.rooms import progress_updates
from samedeal_server.rooms.cached_list import LIST_LIFETIME, CachedList
from samedeal_server.rooms.room_list import list_public_rooms
from samedeal_server.store import keys
from tests.server.live_nodes import NodeMaker, RedisClient


class StoppedTimers(Timers):
    """Timers whose clock stands still until a test advances it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


async def reads(redis: RedisClient) -> int:
    """How often the index of rooms was read."""
    return int((await redis.info("commandstats")).get("cmdstat_zrevrange", {"calls": 0})["calls"])


async def test_list_is_read_once_for_all_clients(node: NodeMaker, redis: RedisClient) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    one = await node()
    timers = StoppedTimers()
    rooms = CachedList(partial(list_public_rooms, one.store), timers)
    before = await reads(redis)
    assert await asyncio.gather(*(rooms.lines() for _ in range(20))) == [()] * 20
    await (await one.player()).create("friday")
    assert await rooms.lines() == ()
    assert await reads(redis) == before + 1
    timers.now += LIST_LIFETIME
    assert [line.room for line in await rooms.lines()] == ["friday"]
    assert await reads(redis) == before + 2


async def test_list_that_failed_is_read_again(node: NodeMaker, redis: RedisClient) -> None:
    rooms = CachedList(partial(list_public_rooms, (await node()).store), StoppedTimers())
    await redis.set(keys.ROOMS, "not a sorted set")
    with pytest.raises(StoreUnavailable):
        await rooms.lines()
    await redis.delete(keys.ROOMS)
    assert await rooms.lines() == ()


async def test_changes_of_an_open_room_are_sent_together(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    monkeypatch.setattr(progress_updates, "PROGRESS_INTERVAL", 1e6)
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create()
    for client in (ana, bob):
        await client.join(room)
    await ana.expect(Pong, Ping)
    ana.inbox.clear()
    for number in range(11):
        await bob.expect(Done, Ready, ready=number % 2 == 0)
    await ana.expect(Pong, Ping)
    assert ana.inbox == []
    one.rooms.hubs[room].updates.flush()
    await ana.expect(Pong, Ping)
    (state,) = [message for message in ana.inbox if isinstance(message, RoomState)]
    assert [player.ready for player in state.players] == [False, True]
    await ana.expect(Done, Start)
    await bob.phase("racing")  # the start of a race is sent at once

"""Tides: players who come at a fixed minute are spread over rooms, which have one table."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from samedeal.protocol.messages import Done, FollowTable, Join, Ping, Pong, RaceNow, Resign, TideTable, TideTime
from samedeal.tides import OPEN_FOR, merged
from samedeal_server.rooms.tide_tables import tide_table
from samedeal_server.store import keys
from tests.server.client import DEADLINE, Client
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.races import kept
from tests.server.tides import GAME, PROXY, drawn, enter, person, place_cards, sent, soon, start_at_any_time


@pytest.fixture(autouse=True)
def _any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    start_at_any_time(monkeypatch)


async def followed(client: Client, start: int) -> TideTable:
    """Follow a table until all its races are over, and return it."""
    await client.expect(Done, FollowTable, game=GAME, tide=start)
    table: TideTable | None = None
    async with asyncio.timeout(DEADLINE):
        while table is None or any(line.racing for line in table.lines):
            table = merged(table, await client.until(TideTable))
    return table


async def test_players_who_come_together_fill_rooms(node: NodeMaker) -> None:
    """They ask two nodes at the same moment, before any of them has joined. Bots meet elsewhere."""
    nodes = [await node(**PROXY), await node(**PROXY)]
    start = await soon(nodes[0], 60_000)
    people = [await person(nodes[number % 2], number) for number in range(36)]
    rooms = await asyncio.gather(*(enter(client, start) for client in people))
    assert sorted(map(rooms.count, set(rooms))) == [4, 16, 16]
    bot = await person(nodes[0], 99, bot=True)
    assert await enter(bot, start) not in rooms
    for room in set(rooms):
        state = (await nodes[0].store.load_races([room]))[0]
        assert state is not None
        assert (state.tide, state.host, state.options.start_at, state.options.bots) == (start, "", start, False)
        assert not replace(state, racers=state.racers[:1]).is_alone(start)  # there are others elsewhere


async def test_address_takes_half_of_each_room(one: Node) -> None:
    start = await soon(one, 60_000)
    rooms = [await enter(await one.player(f"p{number}"), start) for number in range(9)]
    assert rooms[:8] == rooms[:1] * 8
    assert rooms[8] != rooms[0]


async def test_same_player_is_sent_to_the_same_room(node: NodeMaker) -> None:
    """Two clients of one session press at the same moment, and the player comes back later."""
    nodes = [await node(**PROXY), await node(**PROXY)]
    start = await soon(nodes[0], 60_000)
    first = [await person(nodes[0], number) for number in range(15)]
    await asyncio.gather(*(enter(client, start) for client in first))
    ana, other = await person(nodes[0], 20), await person(nodes[0], 21)
    again = await person(nodes[1], 20, session=ana.session)
    asked = await asyncio.gather(sent(ana, start), sent(other, start), sent(again, start))
    assert asked[0] == asked[2] != asked[1]
    await again.join(asked[2])
    assert await sent(ana, start) == asked[0]


async def test_room_that_fills_meanwhile_is_left_for_another(node: NodeMaker) -> None:
    """Players may also join a room that they see in the list, without being sent to it."""
    one = await node(**PROXY)
    start = await soon(one, 60_000)
    ana = await person(one, 0)
    room = await sent(ana, start)
    for number in range(1, 17):
        await (await person(one, number)).join(room)
    await ana.refused("room_full", Join, room=room)
    assert await enter(ana, start) != room


async def test_tide_opens_some_minutes_before(one: Node, redis: RedisClient) -> None:
    """A player who has entered several tides and never played waits a little longer."""
    ana, now = await one.player(), await one.store.now()
    refusal = await ana.refused("no_tide", RaceNow, game=GAME, tide=now + OPEN_FOR + 90_000)
    assert "in 2 min" in refusal.message
    assert 80 < refusal.retry_after <= 90
    await ana.refused("no_tide", RaceNow, game=GAME, tide=now)
    await ana.refused("no_tide", RaceNow, game="chess", tide=now + 60_000)
    starts = [now + OPEN_FOR - each for each in range(3)]
    for start in (starts[0], starts[0], starts[1], starts[1]):
        await sent(ana, start)
    refusal = await ana.refused("no_tide", RaceNow, game=GAME, tide=starts[2])
    assert 50 < refusal.retry_after <= 60
    past = await one.store.earlier.past(ana.player)
    assert past.missed == 2
    assert past.with_race(0, "").wait == 0
    assert [past.with_race(0, "", has_moved=False).wait, past.entering(now).wait] == [60_000, 120_000]


async def test_tide_has_one_table_that_its_records_give_again(node: NodeMaker, redis: RedisClient) -> None:
    nodes = [await node(**PROXY), await node(**PROXY)]
    one, two = nodes
    people = [await person(nodes[number % 2], number) for number in range(18)]
    bot = await person(two, 99, bot=True)
    start = await soon(one, 4_000)
    await asyncio.gather(*(enter(client, start) for client in (*people, bot)))
    await drawn(*people, bot)
    await place_cards(people[17], 2)
    await place_cards(people[3], 1)
    for client in (*people, bot):
        await client.expect(Done, Resign)
    for client in (people[0], people[17], bot):
        await client.phase("finished")
        await kept(client, client.room)

    table = await followed(people[5], start)
    assert (table.people, table.bots, table.shown[:2]) == (18, 1, (people[17].player, people[3].player))
    assert [line.place for line in table.lines if not line.bot][:4] == [1, 2, 3, 3]
    assert people[5].player in table.shown
    assert [line.name for line in table.lines if line.bot] == ["p99"]
    assert {line.room for line in table.lines[:2]} == {people[3].room, people[17].room}

    whole = await tide_table(one.store, GAME, start)
    await redis.delete(keys.tide(GAME, start), keys.TIDES)
    one.rooms.tides = (TideTime(minute=0, game=GAME),)
    assert await tide_table(one.store, GAME, start, day=True) == ()
    await one.upkeep.repair()
    assert await tide_table(two.store, GAME, start) == whole
    assert await tide_table(two.store, GAME, start, day=True) == whole


async def test_table_shows_races_that_go_on_and_ends(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only changes are sent, and nothing more to a client that has not asked again."""
    monkeypatch.setattr("samedeal_server.rooms.tide_tables.INTERVAL", 0.05)
    one = await node()
    ana, bo, eve = await one.player("ana"), await one.player("bo"), await one.player("eve")
    start = await soon(one)
    for client in (ana, bo):
        await enter(client, start)
    await eve.expect(Done, FollowTable, game=GAME, tide=start)
    await drawn(ana, bo)
    seen = await eve.until(TideTable, lambda table: table.people == 2)
    assert all(line.racing for line in seen.lines)
    await place_cards(bo, 1)
    change = await eve.until(TideTable, lambda table: table.lines and table.lines[0].foundation_cards == 1)
    assert [line.name for line in change.lines][:1] == ["bo"]
    assert change.shown == (bo.player, ana.player)
    monkeypatch.setattr("samedeal_server.rooms.tide_tables.FOLLOWED", -1.0)
    await eve.expect(Done, FollowTable, game=GAME, tide=start)
    async with asyncio.timeout(DEADLINE):
        while one.gateway.handlers.tide_tables.tables:
            await eve.expect(Pong, Ping)


async def test_tide_starts_although_its_node_dies(one: Node, two: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node that opened the room stops working a second before the start. Nobody else has followed it."""
    ana = await one.player("ana")
    start = await soon(one)
    room = await enter(ana, start)
    await one.stop_tasks()
    one.rooms.hubs[room].stop()
    await ana.abort()
    again = await two.player("ana", ana.session)
    await again.join(room)
    await drawn(again)

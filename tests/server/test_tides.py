"""Tides: all players who come at a fixed minute race in one room."""

from __future__ import annotations

import asyncio

import pytest

from samedeal.deal_proof import DealProof
from samedeal.options import MAX_SEATS, SEATS_OF_ADDRESS
from samedeal.protocol.messages import Done, Join, RaceNow, Resign
from samedeal.race.due_times import is_alone
from samedeal.tides import OPEN_FOR
from tests.server.live_nodes import Node, NodeMaker
from tests.server.races import draw
from tests.server.tides import GAME, PROXY, enter, person, sent, soon, start_at_any_time


@pytest.fixture(autouse=True)
def _any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    start_at_any_time(monkeypatch)


def small_rooms(monkeypatch: pytest.MonkeyPatch, seats: int) -> None:
    """Let a tide's room have few seats."""
    for module in ("samedeal_server.rooms.tide_rooms", "samedeal_server.store.tide_store"):
        monkeypatch.setattr(f"{module}.MAX_SEATS", seats)


async def test_all_players_of_a_tide_meet_in_one_room(node: NodeMaker) -> None:
    """They ask two nodes at the same moment, before any of them has joined. Bots meet elsewhere."""
    nodes = [await node(**PROXY), await node(**PROXY)]
    start = await soon(nodes[0], 60_000)
    people = [await person(nodes[number % 2], number) for number in range(20)]
    rooms = set(await asyncio.gather(*(enter(client, start) for client in people)))
    bot = await person(nodes[0], 99, bot=True)
    rooms.add(await enter(bot, start))
    assert len(rooms) == 2
    for room in rooms:
        race = (await nodes[0].store.load_races([room]))[0]
        assert race is not None
        assert len(race.racers) == (1 if room == bot.room else 20)
        assert (race.tide, race.host, race.options.start_at, race.options.bots) == (start, "", start, room == bot.room)
        assert race.options.players == MAX_SEATS
        assert not is_alone(race, start)


async def test_full_room_opens_a_second_one(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rooms share nothing: neither the terms, nor the draw, nor the deal."""
    small_rooms(monkeypatch, 2)
    one = await node(**PROXY)
    start = await soon(one)
    people = [await person(one, number) for number in range(4)]
    rooms = [await enter(client, start) for client in people]
    assert rooms == [rooms[0]] * 2 + [rooms[2]] * 2
    assert rooms[0] != rooms[2]
    await draw(*people)
    boards = [client.play.board for client in people]
    assert boards[0] == boards[1] != boards[2] == boards[3]
    for client in people:
        await client.expect(Done, Resign)
    proofs = [DealProof.parse((await client.phase("finished")).proof) for client in people]
    assert [len(proof.shares) for proof in proofs] == [2] * 4
    assert len({(proof.digest, proof.commitment, proof.secret) for proof in proofs}) == 2


async def test_address_has_four_seats_of_a_room(one: Node) -> None:
    start = await soon(one, 60_000)
    players = [await one.player(f"p{number}") for number in range(SEATS_OF_ADDRESS + 1)]
    rooms = [await enter(client, start) for client in players]
    assert rooms[:-1] == rooms[:1] * SEATS_OF_ADDRESS
    assert rooms[-1] != rooms[0]
    late = await one.player("late")
    await late.refused("room_full", Join, room=rooms[0])


async def test_same_player_is_sent_to_the_same_room(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clients of one session press at the same moment, and the player comes back later."""
    small_rooms(monkeypatch, 16)
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


async def test_room_that_fills_meanwhile_is_left_for_another(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Players may also join a room that they see in the list, without being sent to it."""
    small_rooms(monkeypatch, 2)
    one = await node(**PROXY)
    start = await soon(one, 60_000)
    ana = await person(one, 0)
    room = await sent(ana, start)
    for number in (1, 2):
        await (await person(one, number)).join(room)
    await ana.refused("room_full", Join, room=room)
    assert await enter(ana, start) != room


async def test_tide_opens_some_minutes_before(one: Node) -> None:
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
    assert past.with_race("x", 0, "").wait == 0
    assert [past.with_race("x", 0, "", has_moved=False).wait, past.entering(now).wait] == [60_000, 120_000]

"""Bots of the house keep people company, and nobody else can pass for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from samedeal.games import GAMES
from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import (
    Create,
    Created,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    ListHouseRooms,
    ListRooms,
    ProgressUpdate,
    RaceNow,
    Rematch,
    Resign,
    Rooms,
    RoomState,
    Seat,
    Welcome,
)
from samedeal.protocol_codes import CloseCode
from samedeal.race import seats
from samedeal_bots import bot
from samedeal_bots import house as house_module
from samedeal_bots.house import House
from samedeal_client.room_actions import race_person
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.records.past_races import PastRace, race_result
from samedeal_link.session import client_session
from samedeal_link.session.client_session import ClientSession
from samedeal_server.process import app, own_house
from samedeal_server.rooms import house_rooms
from samedeal_server.solving import pool
from samedeal_server.store import keys
from samedeal_server.store.redis_client import command
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry import loop_lag
from tests.client.server_messages import room_state
from tests.server.captured_log import Log
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.races import long_before_a_start
from tests.server.waiting import until

KEY = "the key of this house"
ROOM = "friday"


@pytest.fixture
async def one(node: NodeMaker, key_file: str) -> Node:
    """A node with a house."""
    return await node(house_key_file=key_file)


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    """The file with the key of the house."""
    path = tmp_path / "house.key"
    path.write_text(f"{KEY}\n")
    return str(path)


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """The house comes to rooms of *race now* as soon as somebody is there."""
    monkeypatch.setattr(seats, "HOUSE_COMES", 60_000)


async def bot_of_house(one: Node, name: str) -> Client:
    client = await Client.connect(one.url)
    welcome = await client.expect(Welcome, Hello, name=name, bot=True, house=KEY)
    client.name, client.player = welcome.name, welcome.player
    return client


async def lookout(one: Node, name: str = "first") -> Client:
    """The program that runs the house."""
    client = await bot_of_house(one, "Basil")
    await client.expect(Rooms, ListHouseRooms, house=name)
    return client


async def told(client: Client, name: str = "first") -> list[str]:
    """The rooms that the house is told of."""
    return [line.room for line in (await client.expect(Rooms, ListHouseRooms, house=name)).rooms]


async def opened(client: Client, **options: Any) -> str:
    """Open a room for a race against bots."""
    wanted = WantedOptions(players=4, start="full", countdown=0, **options)
    return (await client.expect(Created, Create, options=wanted, house=3)).room


def names(state: RoomState) -> list[str]:
    return [seat.name for seat in state.players]


async def test_whoever_is_alone_gets_company_until_somebody_comes(one: Node, early: None) -> None:
    ana, bob, house = await one.player("ana"), await one.player("bob"), await lookout(one)
    room = (await ana.expect(Created, RaceNow)).room
    assert await told(house) == []
    await ana.join(room)
    assert await told(house) == [room]
    guests = [await bot_of_house(one, name) for name in ("Clover", "Domino", "Pickle", "Tulip")]
    for guest in guests[:3]:
        await guest.join(room)
    assert await told(house) == []
    await guests[3].refused("no_bots", Join, room=room)
    state = await ana.state(lambda state: len(state.players) == 4)
    assert [(seat.bot, seat.house) for seat in state.players] == [(False, False), *[(True, True)] * 3]
    await bob.join(room)
    await ana.state(lambda state: names(state) == ["ana", "bob"])
    assert await guests[0].closed() == CloseCode.RESTART
    await guests[3].refused("no_bots", Join, room=room)
    await bob.expect(Done, Leave)
    assert await told(house) == [room]
    await guests[3].join(room)


async def test_house_leaves_with_the_last_person(one: Node, early: None) -> None:
    ana = await one.player("ana")
    room = (await ana.expect(Created, RaceNow)).room
    await ana.join(room)
    guest = await bot_of_house(one, "Clover")
    await guest.join(room)
    await ana.expect(Done, Leave)
    (race,) = await one.store.load_races([room])
    assert race is not None
    assert race.racers == ()
    assert await guest.closed() == CloseCode.RESTART  # as of whoever has lost a seat


async def test_house_comes_only_shortly_before_the_start(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "HOUSE_COMES", 0)
    ana, house, guest = await one.player("ana"), await lookout(one), await bot_of_house(one, "Clover")
    room = (await ana.expect(Created, RaceNow)).room
    await ana.join(room)
    assert await told(house) == []
    await guest.refused("no_bots", Join, room=room)


async def test_other_bots_do_not_pass_for_the_house(one: Node, early: None) -> None:
    deep, ana = await Client.hello(one.url, "deep", bot=True), await one.player("ana")
    room = (await ana.expect(Created, RaceNow)).room
    await ana.join(room)
    state = await ana.state(lambda state: len(state.players) == 1)
    (line,) = (await deep.expect(Rooms, ListRooms)).rooms
    assert (line.bots, state.options.bots) == (False, False)
    await deep.refused("no_bots", Join, room=room)
    await deep.refused("no_bots", ListHouseRooms, house="first")
    for fields in ({"house": "forged"}, {"house": KEY, "bot": False}):
        client = await Client.connect(one.url)
        await client.refused("no_bots", Hello, **{"name": "eve", "bot": True, **fields})
    for name in ("Basil", "  basil ", "Bаsil", "ΒASIL", "Basil (bot)", "🤖 Basil", "BISCUlT"):
        client = await Client.connect(one.url)
        await client.refused("malformed", Hello, name=name)


async def test_one_of_two_houses_is_answered(one: Node) -> None:
    first, second = await lookout(one), await bot_of_house(one, "Copper")
    refused = await second.refused("no_bots", ListHouseRooms, house="second")
    assert refused.retry_after
    await one.store.executor.execute(command("DEL", keys.HOUSE_LEASE))
    assert await told(second, "second") == []
    await first.refused("no_bots", ListHouseRooms, house="first")


async def test_room_for_a_race_against_bots_is_in_no_list(one: Node) -> None:
    ana, house = await one.player("ana"), await lookout(one)
    room = await opened(ana)
    await ana.join(room)
    assert (await ana.expect(Rooms, ListRooms)).rooms == ()
    assert await told(house) == [room]
    for name in ("Clover", "Domino", "Pickle"):
        await (await bot_of_house(one, name)).join(room)
    state = await ana.state(lambda state: state.phase == "racing")
    assert len(state.players) == 4
    await ana.expect(Done, Resign)
    await ana.state(lambda state: state.phase == "finished")
    rematch = (await ana.expect(Created, Rematch)).room
    await ana.join(rematch)
    assert await told(house) == [rematch]


async def test_house_plays_with_one_of_an_address(one: Node) -> None:
    """Who asks for bots again leaves the race with those who are there."""
    ana, wanted = await one.player("ana"), {"options": WantedOptions(players=4), "house": 3}
    assert "no bots" in (await ana.refused("no_bots", Create, **wanted)).message
    house = await lookout(one)
    room = await opened(ana)
    bob = await one.player("bob")
    assert "your address" in (await bob.refused("no_bots", Create, **wanted)).message
    await ana.join(room)
    for name in ("Clover", "Domino", "Pickle"):
        assert await told(house) == [room]
        await (await bot_of_house(one, name)).join(room)
    await ana.state(lambda state: state.phase == "racing")
    await ana.refused("bad_options", Create, **wanted, window=3600)
    again = await opened(ana)
    await ana.state(lambda state: state.phase == "finished")
    await ana.join(again)
    assert await told(house) == [again]


async def test_house_plays_in_eight_of_a_hundred_lone_rooms(node: NodeMaker, key_file: str, early: None) -> None:
    """Whoever leaves one of these makes room for the next person who is alone."""
    one = await node(house_key_file=key_file, trusted_proxies=("127.0.0.1",))
    people = [
        await Client.hello(one.url, f"p{number}", additional_headers={"X-Forwarded-For": f"10.0.0.{number}"})
        for number in range(100)
    ]
    house, wanted = await lookout(one), WantedOptions(players=4, start="full")
    answers = [(person, await person.ask(Create, options=wanted, house=3)) for person in people]
    opened = [(person, answer.room) for person, answer in answers if isinstance(answer, Created)]
    assert len(opened) == house_rooms.MOST_ROOMS
    for person, room in opened:
        await person.join(room)
    assert await told(house) == [room for _, room in opened]
    for _, room in opened:
        await (await bot_of_house(one, "Clover")).join(room)
    alone = [(await person.expect(Created, RaceNow, game=game)).room for person, game in zip(people[-9:], GAMES)]  # noqa: B905
    for person, room in zip(people[-9:], alone, strict=True):
        await person.join(room)
    assert await told(house) == [room for _, room in opened]
    await opened[0][0].expect(Done, Leave)
    assert await told(house) == [*(room for _, room in opened[1:]), alone[0]]


async def test_bots_leave_whoever_comes_at_the_same_moment(node: NodeMaker, key_file: str, early: None) -> None:
    """The second person is on another node, and comes before, between and after the bots."""
    one, two = await node(house_key_file=key_file), await node()
    for place, game in enumerate(("willow", "freecell", "yukon", "athena")):
        ana, bob = await one.player("ana"), await two.player("bob")
        guests = [await bot_of_house(one, name) for name in ("Clover", "Domino", "Pickle")]
        room = (await ana.expect(Created, RaceNow, game=game)).room
        await ana.join(room)
        await asyncio.gather(*(client.ask(Join, room=room) for client in (*guests[:place], bob, *guests[place:])))
        (race,) = await one.store.load_races([room])
        assert race is not None
        assert [racer.name for racer in race.racers] == ["ana", "bob"]


async def test_bots_leave_a_room_that_gets_no_deal(
    node: NodeMaker, key_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The solver cannot run. Whoever was in the room may ask for bots again."""
    monkeypatch.setattr(pool, "sys", SimpleNamespace(executable="false"))
    one = await node(house_key_file=key_file)
    ana, house = await one.player("ana"), await lookout(one)
    room = await opened(ana, deal="winnable")
    await ana.join(room)
    racers = [ana, *[await bot_of_house(one, name) for name in ("Clover", "Domino", "Pickle")]]
    for guest in racers[1:]:
        await guest.join(room)
    await asyncio.gather(*(racer.take_part() for racer in racers))
    await asyncio.gather(*(racer.phase("closed") for racer in racers))
    assert await told(house) == []
    await ana.join(again := await opened(ana))
    assert await told(house) == [again]


async def test_house_neither_comes_before_a_person_nor_stays_after(one: Node) -> None:
    """Nor does it race alone if the person leaves in the countdown."""
    ana, house = await one.player("ana"), await lookout(one)
    options = WantedOptions(players=2, start="full", countdown=60)
    room = (await ana.expect(Created, Create, options=options, house=1)).room
    guest = await bot_of_house(one, "Clover")
    assert await told(house) == []
    await guest.refused("no_bots", Join, room=room)
    await ana.join(room)
    await guest.join(room)
    state = await ana.state(lambda state: state.phase == "countdown")
    assert state.host == ana.player
    await ana.expect(Done, Leave)
    assert await guest.closed() == CloseCode.RESTART
    (race,) = await one.store.load_races([room])
    assert race is not None
    assert (race.racers, race.phase) == ((), "open")


@pytest.fixture
async def house(one: Node, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """A house that is quick to look for rooms, and whose bots think fast. One of them comes to somebody who is alone."""
    monkeypatch.setattr(house_module, "LOOK_INTERVAL", 0.05)
    monkeypatch.setattr(bot, "thought_time", lambda *_: 0.5)
    house = House(parse_address(one.url), KEY, 1, print, Random(1))
    task = asyncio.create_task(house.run())
    yield house
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def asked_for_bots(ana: Client) -> str:
    """Open a room for a race against bots, as soon as the house is there."""
    while True:
        options = WantedOptions(players=4, start="full", countdown=0, deal="7")
        answer = await ana.ask(Create, options=options, house=3)
        if isinstance(answer, Created):
            return answer.room


async def test_bots_of_the_house_race_and_stay_for_the_rematch(one: Node, house: House) -> None:
    ana = await one.player("ana")
    room = await asked_for_bots(ana)
    await ana.expect(Joined, Join, room=room)
    racing = await ana.state(lambda state: state.phase == "racing")
    rivals = sorted(names(racing)[1:])
    await ana.until(ProgressUpdate, lambda update: update.moves is not UNSET)
    await ana.expect(Done, Resign)
    await ana.state(lambda state: state.phase == "finished")
    rematch = (await ana.expect(Created, Rematch)).room
    await ana.expect(Joined, Join, room=rematch)
    again = await ana.state(lambda state: state.room == rematch and state.phase == "racing")
    assert sorted(names(again)[1:]) == rivals


async def test_whoever_races_only_bots_is_led_to_a_person(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """The race that the player leaves counts as nothing."""
    monkeypatch.setattr(client_session, "PING_INTERVAL", 0.5)
    monkeypatch.setattr(client_session, "PERSON_INTERVAL", 0.5)
    bob, _, clover = await one.player("bob"), await lookout(one), await bot_of_house(one, "Clover")
    async with Link(parse_address(one.url), "ana", MemorySessions()) as link:
        ana, results = ClientSession(link), set[PastRace | None]()
        ana.subscribe(lambda: results.add(race_result(ana.model)))
        running = asyncio.create_task(ana.run())
        options = Options(deal="7", players=2, start="full", countdown=0, bots=False, hosted=False)
        await ana.join(room := await ana.rooms.create(options, house=1))
        await clover.join(room)
        await until(lambda: ana.model.phase == "racing")
        assert ana.model.evidence is not None
        assert not ana.model.evidence.contradiction
        await long_before_a_start()
        now = (await bob.expect(Created, RaceNow)).room
        await bob.join(now)
        await until(lambda: ana.person is not None)
        assert ana.person is not None
        await race_person(ana, ana.person)
        await until(lambda: ana.model.is_in(now))
        assert results == {None}
        await cancel_and_wait([running])


async def test_house_leaves_a_server_that_has_too_much_to_do(
    one: Node, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = await one.player("ana")
    await ana.expect(Joined, Join, room=await asked_for_bots(ana))
    await ana.state(lambda state: state.phase == "racing")
    said: list[str] = []
    monkeypatch.setattr(app, "_log", SimpleNamespace(warning=lambda event, **_: said.append(event), info=print))
    monkeypatch.setattr(loop_lag, "_SAMPLE_INTERVAL", 0.01)
    monkeypatch.setattr(loop_lag, "LATE", -1.0)
    await ana.state(lambda state: [seat.resigned for seat in state.players] == [False, True, True, True])
    assert said == ["house_sent_home"]
    await ana.refused("no_bots", Create, options=WantedOptions(start="full"), house=3)


def test_first_races_are_against_slower_bots() -> None:
    house = House(parse_address("localhost"), KEY, 3, print, Random(1))
    people = Seat(player="ana", name="ana", seat=1), Seat(player="c", name="Clover", seat=2, bot=True, house=True)
    rooms = [room_state(name, Options(deal="7"), people) for name in ("a", "b", "c", "d")]
    assert [house._level("careful", room) for room in rooms] == [*3 * ["patient"], "careful"]
    assert {house._level("greedy", room) for room in rooms} == {"greedy"}


async def test_house_is_started_again_and_leaves_in_the_end(tmp_path: Path, log: Log) -> None:
    log.set_up("info")
    starts, stop = tmp_path / "starts", asyncio.Event()
    script = f"echo now >> {starts}; [ $(wc -l < {starts}) = 2 ] || exit 3; echo here; cat; echo left"
    keeping = asyncio.create_task(own_house.keep_house(("sh", "-c", script), stop))
    await until(lambda: log.named("house_says", text="here"))
    assert log.named("house_died", level="warning", code=3)
    stop.set()
    await until(lambda: log.named("house_says", text="left"))
    assert len(log.named("house_died")) == 1
    await cancel_and_wait([keeping])


async def test_welcome_says_whether_the_house_is_there(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def welcome() -> bool:
        return (await (await Client.connect(one.url)).expect(Welcome, Hello, name="zoe")).house

    assert await welcome()
    monkeypatch.setattr(house_rooms, "STARTING", 0)
    assert not await welcome()
    await lookout(one)
    assert await welcome()
    await one.store.executor.execute(command("DEL", keys.HOUSE_LEASE))
    assert not await welcome()

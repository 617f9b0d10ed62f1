"""A Redis Cluster of three primaries: every script in one slot, rooms spread, and slots that move while races go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot

from samedeal.protocol.admin import Ban, Kick, Say, Status, Survey
from samedeal.protocol.messages import (
    Acked,
    Act,
    Close,
    Created,
    Done,
    LateBoard,
    LateMove,
    ListRooms,
    Notice,
    Progress,
    Rematch,
    Resign,
    Rooms,
)
from samedeal_server.backup import Writer
from samedeal_server.store import connect, keys
from samedeal_server.store.copies import Copies
from samedeal_server.store.database import Command
from tests.server.conftest import Node, NodeMaker
from tests.server.operator import TOKEN, Operator
from tests.server.redis_kinds import Shards, shards
from tests.server.steady import Steady, check_log
from tests.server.test_replicas import answered
from tests.server.test_rooms import race

pytestmark = [
    pytest.mark.usefixtures("half_made_connections"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # as the fixture says
]

ROOMS = ("monday", "sunday", "friday")
"""Codes of rooms of which each is on another of the three primaries."""


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Shards]:
    async with shards(tmp_path) as cluster:
        yield cluster


def note(node: Node, asked: list[Command], monkeypatch: pytest.MonkeyPatch) -> None:
    """Note the commands that a node sends from now on."""
    attempt = node.store.redis.attempt

    async def noting(commands: Any, **options: Any) -> Any:
        asked.extend(commands)
        return await attempt(commands, **options)

    monkeypatch.setattr(node.store.redis, "attempt", noting)


def keys_of(command: Command) -> list[str]:
    """The keys that a command names, whatever it says of where it goes."""
    name, *words = command.words
    if name in ("EVAL", "EVALSHA"):
        return [str(word) for word in words[2 : 2 + int(words[1])]]
    return [] if name == "TIME" else [str(words[0])]


async def test_everything_works_on_a_cluster_with_each_script_in_one_slot_and_rooms_spread(
    cluster: Shards, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = await node(redis=cluster.url), await node(redis=cluster.url)
    asked: list[Command] = []
    for each in (one, two):
        note(each, asked, monkeypatch)
    assert [await cluster.holder(keys.meta(room)) for room in ROOMS] == [0, 1, 2]
    racers = [await race(one, two, room=room, games=("athena",), delay=0) for room in ROOMS]
    wat = await one.player("wat")
    await wat.watch("monday")
    await wat.until(LateBoard)
    assert {line.room for line in (await wat.want(Rooms, ListRooms)).rooms} == set(ROOMS)
    await asyncio.gather(*(client.acts(10) for pair in racers for client in pair))
    await wat.until(LateMove)
    for ana, bob in racers:
        await bob.until(Progress, lambda told, ana=ana: any(each.moves == 10 for each in told.tallies))  # type: ignore[misc]  # a default in a lambda
        for client in (ana, bob):
            await client.want(Done, Resign)
        assert len((await bob.phase("finished")).standings) == 2
    await racers[0][0].want(Created, Rematch)
    scripts = [command for command in asked if command.words[0] in ("EVAL", "EVALSHA")]
    assert len({command.words[1] for command in scripts}) > 5
    for command in asked:
        assert {key_slot(key.encode()) for key in keys_of(command)} <= {key_slot(command.key.encode())}, command


async def test_slots_move_while_races_go_on_and_nothing_is_lost(cluster: Shards, node: NodeMaker) -> None:
    nodes = [await node(redis=cluster.url), await node(redis=cluster.url)]
    pairs = [await race(*nodes, room=room, games=("athena",), undo="free") for room in ROOMS]
    racers = [Steady(client, nodes, seed) for seed, client in enumerate(client for pair in pairs for client in pair)]
    moved = asyncio.Event()
    going = [asyncio.create_task(racer.until(moved)) for racer in racers]
    while min(len(racer.acked) for racer in racers) < 20:
        for room in ROOMS:
            where = await cluster.holder(keys.meta(room))
            await cluster.migrate(keys.meta(room), (where + 1) % 3)
    moved.set()
    await asyncio.gather(*going)
    await asyncio.gather(*(racer.moves(5) for racer in racers))
    for racer in racers:
        await check_log(nodes[0].store, racer)
    for racer in racers:
        await racer.client.want(Done, Resign)
    for racer in racers:
        assert len((await racer.client.phase("finished")).standings) == 2


async def test_operators_and_backups_have_all_of_a_cluster(cluster: Shards, node: NodeMaker) -> None:
    one, two = await node(redis=cluster.url, token=TOKEN), await node(redis=cluster.url, token=TOKEN)
    racers = [await race(one, two, room=room, games=("athena",)) for room in ROOMS]
    for ana, bob in racers:
        await asyncio.gather(ana.acts(3), bob.acts(2))
    operator = await Operator.login(one.url)
    await operator.want(Done, Say, text="to all")
    await operator.want(Done, Say, room="friday", text="to friday")
    (_, guest), (ana, bob) = racers[0], racers[-1]
    for client in (ana, bob):
        told = [await client.until(Notice), await client.until(Notice)]
        assert {notice.message for notice in told} == {"to all", "to friday"}
    await operator.want(Done, Kick, room="friday", player=bob.player)
    assert (await bob.until(Notice)).code == "kicked"
    await operator.want(Done, Ban, who=guest.player)
    assert await guest.closed() == Close.BANNED
    for each in (one, two):
        await each.roster.beat()
    survey = await operator.want(Survey, Status)
    assert (len(survey.nodes), survey.phases.racing) == (2, 3)
    assert survey.redis.clients > 2

    store = one.store
    content = [part async for part in Writer(store).parts(1 << 16)]
    copies = [copy async for room in Copies(store).rooms() for copy in room]
    copies += [copy async for copy in Copies(store).others()]
    assert sum(map(len, content)) > sum(len(copy.value) for copy in copies)
    logs = {ana.player: await store.log(room, ana.player) for room, (ana, _) in zip(ROOMS, racers, strict=True)}
    for each in (one, two):
        await each.gateway.drain()
        await each.deafen()
    await Copies(store).clear()
    assert await store.newest_rooms(9) == []
    assert all(race is None for race in await store.races(ROOMS))
    await Copies(store).put(copies)
    await Copies(store).index(copies)
    assert set(await store.newest_rooms(9)) == set(ROOMS)
    for room, (ana, _) in zip(ROOMS, racers, strict=True):
        assert await store.log(room, ana.player) == logs[ana.player] != []
    assert await one.roster.nodes.bans(await store.now())


async def test_nobody_waits_for_a_primary_that_holds_up_others(
    cluster: Shards, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_ANSWER_TIMEOUT", 60.0)
    one = await node(redis=cluster.url)
    (ana, _), *others = [await race(one, room=room, games=("athena",)) for room in ROOMS]
    cluster.servers[0].freeze()
    move = {"id": 77, "revision": 0, "action": "draw"}
    await ana.send(Act, **move)
    await asyncio.gather(*(client.acts(10) for pair in others for client in pair))
    assert not any(getattr(message, "to", None) == 77 for message in ana.inbox)
    cluster.servers[0].thaw()
    await ana.answer(77)
    assert isinstance(await answered(ana, Act, **move), Acked)

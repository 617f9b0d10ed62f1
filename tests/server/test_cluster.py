"""Tests of a Redis Cluster of three primaries: scripts use one slot, rooms are distributed, and slots move during races."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot
from redis.exceptions import TryAgainError

from samedeal.protocol.admin import Ban, BanList, Status, Survey
from samedeal.protocol.messages import (
    Created,
    DelayedBoard,
    DelayedMove,
    Done,
    ListRooms,
    ProgressUpdate,
    Rematch,
    Resign,
    Rooms,
)
from samedeal.protocol_codes import CloseCode
from samedeal_server.operators.backup import Writer
from samedeal_server.rooms import upkeep
from samedeal_server.store import keys
from samedeal_server.store.data_loss_risk import has_sharded_pubsub
from samedeal_server.store.dump import KeyDump
from samedeal_server.store.redis_client import PrimaryClient, RedisCommand
from samedeal_server.store.redis_cluster import ClusterClient
from tests.server.commits import commit_of
from tests.server.live_nodes import NodeMaker
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import race
from tests.server.real_clients import check_and_finish, playing, races
from tests.server.redis_kinds import ENDS_SERVERS, ROOMS, Shards
from tests.server.waiting import until

pytestmark = ENDS_SERVERS


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Shards]:
    async with Shards(tmp_path) as cluster:
        yield cluster


def keys_of(command: RedisCommand) -> list[str]:
    """Return the keys in the arguments of a command."""
    name, *words = command.arguments
    if name in ("EVAL", "EVALSHA"):
        return [str(word) for word in words[2 : 2 + int(words[1])]]
    return [] if name == "TIME" else [str(words[0])]


async def test_scripts_use_one_slot_on_a_cluster(
    cluster: Shards, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = await node(redis=cluster.url), await node(redis=cluster.url)
    sent: list[RedisCommand] = []
    try_execute = ClusterClient.try_execute

    async def recorded(self: ClusterClient, commands: Any, **options: Any) -> Any:
        sent.extend(commands)
        return await try_execute(self, commands, **options)

    monkeypatch.setattr(ClusterClient, "try_execute", recorded)
    assert [await cluster.holder(keys.meta(room)) for room in ROOMS] == [0, 1, 2]
    racers = [await race(one, two, room=room, games=("athena",), delay=0) for room in ROOMS]
    wat = await one.player("wat")
    await wat.watch("monday")
    await wat.until(DelayedBoard)
    assert {line.room for line in (await wat.expect(Rooms, ListRooms)).rooms} == set(ROOMS)
    await asyncio.gather(*(client.acts(10) for pair in racers for client in pair))
    await wat.until(DelayedMove)
    for ana, bob in racers:
        for client in (ana, bob):
            await client.expect(Done, Resign)
        assert [tally.moves for tally in (await bob.phase("finished")).tallies] == [10, 10]
    await racers[0][0].expect(Created, Rematch)
    scripts = [command for command in sent if command.arguments[0] in ("EVAL", "EVALSHA")]
    assert len({command.arguments[1] for command in scripts}) > 4
    for command in sent:
        assert {key_slot(key.encode()) for key in keys_of(command)} <= {key_slot(command.key.encode())}, command


async def test_races_survive_moving_slots(cluster: Shards, node: NodeMaker) -> None:
    nodes = [await node(redis=cluster.url), await node(redis=cluster.url)]
    async with races(nodes, *ROOMS) as racers:
        async with playing(racers):
            while min(len(racer.model.own.actions) for racer in racers) < 20:
                for room in ROOMS:
                    number = await cluster.holder(keys.meta(room))
                    await cluster.migrate(keys.meta(room), (number + 1) % 3)
        await check_and_finish(nodes[0].store, racers)


async def test_backup_and_status_cover_a_cluster(cluster: Shards, node: NodeMaker) -> None:
    one, two = await node(redis=cluster.url, token=TOKEN), await node(redis=cluster.url, token=TOKEN)
    racers = [await race(one, two, room=room, games=("athena",)) for room in ROOMS]
    for ana, bob in racers:
        await asyncio.gather(ana.acts(3), bob.acts(2))
    operator = await Operator.login(one.url)
    _, guest = racers[0]
    await operator.expect(BanList, Ban, target=guest.player)
    assert await guest.closed() == CloseCode.BANNED
    for each in (one, two):
        await each.send_heartbeat()
    survey = await operator.expect(Survey, Status)
    assert (len(survey.nodes), survey.phases.racing) == (2, 3)
    assert survey.redis.clients > 2

    store = one.store
    content = [part async for part in Writer(store).parts(1 << 16)]
    copies = [copy async for room in KeyDump(store).rooms() for copy in room]
    copies += [copy async for copy in KeyDump(store).other_keys()]
    assert sum(map(len, content)) > sum(len(copy.value) for copy in copies)
    logs = {ana.player: await store.load_log(room, ana.player) for room, (ana, _) in zip(ROOMS, racers, strict=True)}
    for each in (one, two):
        await each.gateway.drain()
        await each.stop_tasks()
    await KeyDump(store).clear()
    assert await store.index.newest(9) == []
    assert all(race is None for race in await store.load_races(ROOMS))
    await KeyDump(store).restore(copies)
    await KeyDump(store).rebuild_indexes(copies)
    assert set(await store.index.newest(9)) == set(ROOMS)
    for room, (ana, _) in zip(ROOMS, racers, strict=True):
        assert await store.load_log(room, ana.player) == logs[ana.player] != []
    assert await one.agent.nodes.bans(await store.now())


async def test_commits_keep_their_order_when_their_slot_moves(
    cluster: Shards, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await node(redis=cluster.url)
    ana, _ = await race(one, one, room=ROOMS[0], games=("athena",), undo="free")
    generation = await one.store.connect_player(ROOMS[0], ana.player)
    commits = [commit_of(ana.player, generation, revision, room=ROOMS[0]) for revision in range(5)]
    assert (await one.store.commit(commits.pop(0))).outcome == "ok"
    send_batch = PrimaryClient.send_batch

    async def send_while_keys_move(self: PrimaryClient, commands: Any, **options: Any) -> list[Any]:
        """Refuse the first command, as a primary does while it has only some of the keys, and execute the others."""
        if len(commands) < len(commits):
            return await send_batch(self, commands, **options)
        monkeypatch.undo()
        return [TryAgainError("TRYAGAIN"), *await send_batch(self, commands[1:], **options)]

    monkeypatch.setattr(PrimaryClient, "send_batch", send_while_keys_move)
    results = await asyncio.gather(*map(one.store.commit, commits))
    assert [result.outcome for result in results] == ["ok"] * len(commits)


async def test_events_are_announced_only_to_the_primary_of_a_room(
    cluster: Shards, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_sharded_pubsub(await cluster.servers[0].redis.info("server")):
        pytest.skip("this Redis is older than 7.0 and has no sharded pub/sub")
    monkeypatch.setattr(upkeep, "POLL_INTERVAL", 3_600.0)
    one, two = await node(redis=cluster.url), await node(redis=cluster.url)
    pairs = [await race(one, two, room=room, games=("athena",), undo="free") for room in ROOMS]
    channels = [keys.channel(room).encode() for room in ROOMS]

    async def subscribed(holders: list[int]) -> bool:
        """Return whether both nodes are subscribed to each room at its holder, and to no room elsewhere."""
        for number, server in enumerate(cluster.servers):
            held = [channel for channel, holder in zip(channels, holders, strict=True) if holder == number]
            found = await server.redis.execute_command("PUBSUB", "SHARDNUMSUB", *channels)
            counts = dict(zip(found[::2], found[1::2], strict=True))
            if counts != {channel: 2 if channel in held else 0 for channel in channels}:
                return False
            assert not set(channels) & set(await server.redis.pubsub_channels())
        return True

    await until(lambda: subscribed([0, 1, 2]))
    await cluster.migrate(keys.meta(ROOMS[0]), 2)
    for each in (one, two):
        await each.rooms.hubs[ROOMS[0]].pull()  # the next command notices that the room has moved
    await until(lambda: subscribed([2, 1, 2]))
    for ana, bob in pairs:
        await ana.act("draw")
        await bob.until(ProgressUpdate, lambda update: update.moves == 1)

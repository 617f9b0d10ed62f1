"""Tests of backups: the content of the file, its checksum, and restoring it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.operators import backup
from samedeal_server.operators.backup import Writer
from samedeal_server.process.open_store import open_store
from samedeal_server.process.restore import restore
from samedeal_server.store.dump import KeyDump
from samedeal_server.store.store import STREAM_LENGTH, Store
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.metrics import Metrics
from tests.golden.golden_files import assert_answers, values_on
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.races import race


async def write_backup(store: Store, path: Path) -> None:
    """Write a backup. Its digest is longer than a part."""
    await asyncio.to_thread(path.write_bytes, b"".join([part async for part in Writer(store).parts(20)]))


@pytest.mark.parametrize("new_key", [False, True])
async def test_restored_rooms_equal_the_original_ones(
    redis: RedisClient, one: Node, tmp_path: Path, new_key: bool
) -> None:
    """A copy can have a receipt key of its own."""
    for client in await race(one, room="friday"):
        await client.acts(5)
    ttl = await redis.ttl("samedeal:{friday}:meta")
    await write_backup(one.store, tmp_path / "backup")
    config = Config(data=tmp_path / "data", durability="everysec")
    await restore(tmp_path / "backup", config, replace=False, new_receipt_key=new_key)
    async with EmbeddedRedis(config.data, "everysec") as url, open_store(url, 0, Metrics()) as store:
        original, copy = await one.store.load("friday"), await store.load("friday")
        assert original
        assert copy
        assert (copy.race, copy.version, copy.last_event) == (original.race, original.version, original.last_event)
        for player, progress in copy.progress.items():
            assert progress.revision == original.progress[player].revision == 5
            assert await store.load_log("friday", player) == await one.store.load_log("friday", player)
        assert await store.load_secret("friday") == await one.store.load_secret("friday")
        assert await store.index.newest(9) == ["friday"]
        assert (store.receipt_key == one.store.receipt_key) != new_key
        async with Redis.from_url(url) as restored:
            assert 0 < await restored.ttl("samedeal:{friday}:meta") <= ttl
            left_out = {*await redis.keys("samedeal:*")} - {*await restored.keys("samedeal:*")}
    transient = (b"samedeal:node", b"samedeal:news", b"samedeal:player:", b"samedeal:probe", b"samedeal:schemas")
    assert [key for key in left_out if not key.startswith(transient)] == []


async def test_dump_of_a_room_is_consistent_during_moves(one: Node, tmp_path: Path) -> None:
    players = await race(one, names=("ana", "bob", "cid", "dan"), room="friday", undo="free")

    async def play(client: Client) -> None:
        for _ in range(STREAM_LENGTH // 10):  # so that the stream keeps the events of all four
            await client.acts(1, seed=client.revision)
            await client.act("undo")

    playing = [asyncio.create_task(play(client)) for client in players]
    async with EmbeddedRedis(tmp_path / "data", "everysec") as url, open_store(url, 0, Metrics()) as store:
        for _ in range(20):
            dumped = [key async for room in KeyDump(one.store).rooms() for key in room]
            await KeyDump(store).clear()
            await KeyDump(store).restore(dumped)
            found = await store.load("friday")
            assert found
            for client in players:
                log = await store.load_log("friday", client.player)
                assert found.progress[client.player].revision == len(log)
            events = await store.load_events("friday", 0)
            assert events
            assert events[-1].number == found.last_event
    await cancel_and_wait(playing)
    assert all(client.revision > 0 for client in players)


async def test_damaged_backups_are_refused_before_their_records(node: NodeMaker, tmp_path: Path) -> None:
    path = tmp_path / "backup"
    await write_backup((await node()).store, path)
    damaged: dict[str, bytes] = values_on("damaged_backups", {"data": path.read_bytes()})

    def answer(_: str, question: str) -> str:
        path.write_bytes(damaged[question])
        with pytest.raises(StartupError) as caught:
            next(backup.read(path))
        return f"{caught.value.code}: {caught.value}".replace(str(path), "FILE")

    assert_answers("damaged_backups", answer)

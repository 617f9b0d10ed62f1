"""A backup's file: what is in it, that it is whole, and that it is put back as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from samedeal.protocol.messages import Done, Start
from samedeal_server import backup
from samedeal_server.app import _store
from samedeal_server.backup import Head, Tail, Writer
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.store.copies import Copies, Copy
from samedeal_server.store.redis import Store
from samedeal_server.tasks import end
from tests.server.client import Client
from tests.server.conftest import Node, NodeMaker


async def a_race(node: NodeMaker) -> Node:
    here = await node()
    ana, bob = await here.player("ana"), await here.player("bob")
    await ana.create("friday", games=("athena",))
    for client in (ana, bob):
        await client.join("friday")
    await ana.want(Done, Start)
    for client in (ana, bob):
        await client.dealt()
        await client.acts(5)
    return here


async def written(store: Store, path: Path, largest: int = 1000) -> list[bytes]:
    parts = [part async for part in Writer(store).parts(largest)]
    keep(path, b"".join(parts))
    return parts


def keep(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def test_a_backup_comes_in_parts_of_a_size_and_is_read_again(node: NodeMaker, tmp_path: Path) -> None:
    here = await a_race(node)
    parts = await written(here.store, tmp_path / "backup")
    assert {len(part) for part in parts[:-1]} == {1000}
    assert len(parts[-1]) < 1000 + 32
    head, *copies, tail = backup.read(tmp_path / "backup")
    assert isinstance(head, Head)
    assert isinstance(tail, Tail)
    assert (tail.keys, tail.rooms, tail.sessions) == (len(copies), 1, 2)
    keys = {copy.key.decode() for copy in copies if isinstance(copy, Copy)}
    there = {key.decode() for key in await here.store.redis.keys("samedeal:*")}
    not_copied = ("samedeal:node", "samedeal:player:", "samedeal:probe")
    assert keys <= there
    assert all(key.startswith(not_copied) for key in there - keys)


async def test_what_is_put_back_is_what_was_there(node: NodeMaker, tmp_path: Path) -> None:
    here = await a_race(node)
    path = tmp_path / "backup"
    await written(here.store, path)
    was = await here.store.load("friday")
    async with EmbeddedRedis(tmp_path / "data", "everysec") as url, _store(url) as store:
        copies = Copies(store)
        assert await copies.some_key() == ""
        found = [record for record in backup.read(path) if isinstance(record, Copy)]
        await copies.put(found)
        await copies.index(found)
        again = await store.load("friday")
        assert was
        assert again
        assert (again.race, again.version, again.event) == (was.race, was.version, was.event)
        assert {player: run.revision for player, run in again.runs.items()} == dict.fromkeys(was.runs, 5)
        for player in was.runs:
            assert await store.log("friday", player) == await here.store.log("friday", player)
        assert await store.secret("friday") == await here.store.secret("friday")
        assert await store.newest_rooms(9) == ["friday"]
        assert await copies.some_key() != ""
        ttl = await store.redis.ttl("samedeal:{friday}:meta")
        assert 0 < ttl <= await here.store.redis.ttl("samedeal:{friday}:meta") + 1
        await copies.clear()
        assert await store.redis.dbsize() == 0


async def test_a_room_is_copied_as_it_was_at_one_moment_while_moves_go_on(node: NodeMaker, tmp_path: Path) -> None:
    here = await node()
    players = [await here.player(name) for name in ("ana", "bob", "cid", "dan")]
    await players[0].create("friday", games=("athena",), undo="free")
    for client in players:
        await client.join("friday")
    await players[0].want(Done, Start)
    for client in players:
        await client.dealt()

    async def play(client: Client) -> None:
        while True:
            await client.acts(1, seed=client.play.revision if client.play else 0)
            await client.act("undo")

    playing = [asyncio.create_task(play(client)) for client in players]
    async with EmbeddedRedis(tmp_path / "data", "everysec") as url, _store(url) as store:
        for _ in range(20):
            copies = [copy async for room in Copies(here.store).rooms() for copy in room]
            await Copies(store).clear()
            await Copies(store).put(copies)
            found = await store.load("friday")
            assert found
            for client in players:
                log = await store.log("friday", client.player)
                assert found.runs[client.player].revision == len(log)
            events = await store.events("friday", 0)
            assert events
            assert events[-1].number == found.event
    await end(playing)
    assert all(client.play and client.play.revision > 0 for client in players)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda data: data[:-1], "is not whole"),
        (lambda data: data[:40], "is not whole"),
        (lambda data: data + b"x", "is not whole"),
        (lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:], "is not whole"),
        (lambda data: b"", "is not a backup"),
        (lambda data: b"something else\n" * 9, "is not a backup"),
        (lambda data: data.replace(b"backup 1", b"backup 2", 1), "was made by a later version"),
    ],
)
async def test_a_damaged_backup_is_refused_before_anything_comes_of_it(
    node: NodeMaker, tmp_path: Path, damage: Callable[[bytes], bytes], sentence: str
) -> None:
    path = tmp_path / "backup"
    await written((await node()).store, path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StartupError, match=sentence):
        next(backup.read(path))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="can't be read: No such file"):
        next(backup.read(tmp_path / "nothing"))

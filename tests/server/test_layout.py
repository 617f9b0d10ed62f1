"""A Redis shared with other versions of Samedeal: what can't be served is refused with words, and left as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest

import samedeal
from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Done, Join, ListRooms, Rematch, Rooms, RoomState, Start, Watch
from samedeal_server.backup import Writer
from samedeal_server.config import Config
from samedeal_server.errors import StartupError
from samedeal_server.restore import _restore
from samedeal_server.store import keys, layout
from samedeal_server.store.redis import LIFETIME, Store
from tests.server.client import Client
from tests.server.conftest import Node, NodeMaker

NEWER = layout.READABLE[-1] + 1
OLDER = layout.READABLE[0] - 1


async def noted(node: Node, room: str, **fields: Any) -> None:
    """Have it noted with a room that another version opened it."""
    await node.store.redis.hset(keys.meta(room), mapping=fields)


async def rewritten(node: Node, room: str, **fields: Any) -> None:
    """Write a room's race as a version would that knows more."""
    race = msgpack.unpackb(await node.store.redis.hget(keys.meta(room), "race"))
    for name, value in fields.items():
        race[name] = {**race[name], **value} if isinstance(value, dict) else value
    await noted(node, room, race=msgpack.packb(race))


async def kept(store: Store, room: str) -> dict[str, Any]:
    """Everything that Redis keeps of a room, and what the index of rooms says of it."""
    names = [keys.meta(room), keys.secret(room), keys.events(room), keys.watchers(room)]
    found = {name: await store.redis.dump(name) for name in names}
    return {**found, keys.ROOMS: await store.redis.zscore(keys.ROOMS, room)}


async def listed(client: Client) -> list[str]:
    return [line.room for line in (await client.want(Rooms, ListRooms)).rooms]


@pytest.mark.parametrize(
    "fields",
    [{"layout": NEWER}, {"layout": OLDER}, {"layout": ""}, {"engine": samedeal.ENGINE + 1}],
    ids=["newer", "older", "not noted", "other rules"],
)
async def test_a_room_of_another_version_is_refused_and_left_alone(node: NodeMaker, fields: dict[str, Any]) -> None:
    one = await node()
    ana = await one.player()
    room, other = await ana.create("friday"), await ana.create("monday")
    await noted(one, room, **fields)
    before = await kept(one.store, room)
    for ask in (Join, Watch):
        refusal = await ana.refused("other_version", ask, room=room)
        assert samedeal.__version__ in refusal.message
        assert refusal.retry_after == layout.COME_BACK
    assert await listed(ana) == [other]
    await one.rooms._repair()
    await one.rooms._refresh()
    assert await kept(one.store, room) == before
    await ana.refused("room_exists", Create, room=room, options=WantedOptions())


async def test_a_room_whose_game_only_another_version_knows_is_refused(node: NodeMaker) -> None:
    one = await node()
    ana = await one.player()
    room = await ana.create()
    await rewritten(one, room, options={"games": ["yukon"]})
    await ana.refused("other_version", Join, room=room)
    assert await listed(ana) == []


async def test_a_room_of_another_version_that_is_due_waits_for_its_own_nodes(node: NodeMaker) -> None:
    one = await node()
    ana = await one.player()
    room = await ana.create()
    await noted(one, room, layout=NEWER)
    await one.store.redis.zadd(keys.DUE, {room: 1})
    before = await kept(one.store, room)
    await one.rooms._sweep()
    assert await one.store.due_rooms(await one.store.now(), 10) == []
    assert await kept(one.store, room) == before


async def test_what_a_newer_version_adds_to_a_room_is_passed_over(node: NodeMaker) -> None:
    one = await node()
    ana = await one.player()
    room = await ana.create()
    await rewritten(one, room, options={"fog": True}, weather="rain")
    await ana.join(room)
    assert (await ana.until(RoomState)).options.players == 8


async def test_an_event_of_a_kind_that_a_newer_version_adds_is_passed_over(node: NodeMaker) -> None:
    one, two = await node(), await node()
    ana, bob = await one.player("ana"), await two.player("bob")
    room = await ana.create()
    await ana.join(room)
    await bob.join(room)
    redis = one.store.redis
    before = int(await redis.hget(keys.meta(room), "event"))
    number = await redis.hincrby(keys.meta(room), "event", 1)
    await redis.xadd(keys.events(room), {"after": before, "at": 1, "event": b"X\xff"}, id=f"{number}-0")
    await redis.publish(keys.channel(room), b"%d:%d:1:X\xff" % (number, before))
    await ana.want(Done, Start)
    await ana.dealt()
    await bob.dealt()
    await ana.acts(3)
    await bob.refused("not_over", Rematch)


# ---------------------------------------------------------------- a node that starts


@pytest.fixture
async def store(node: NodeMaker) -> Store:
    return (await node()).store


async def marked(store: Store, number: int, version: str, seconds_ago: int = 0) -> None:
    """Leave the mark of a node of another version."""
    await store.redis.hset(keys.LAYOUTS, str(number), f"{await store.now() - 1000 * seconds_ago} {version}")


async def test_a_node_leaves_its_mark(store: Store) -> None:
    [(number, value)] = (await store.redis.hgetall(keys.LAYOUTS)).items()
    at, version = value.decode().split()
    assert (int(number), version) == (layout.LAYOUT, samedeal.__version__)
    assert 0 <= await store.now() - int(at) < 60_000


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(NEWER, "store_newer", "update this node"), (OLDER, "store_older", "run a release from between the two first")],
)
async def test_a_store_that_can_not_be_shared_is_refused(
    store: Store, node: NodeMaker, number: int, code: str, words: str
) -> None:
    await marked(store, number, "7.8.9")
    with pytest.raises(
        StartupError, match=rf"^Samedeal 7\.8\.9 has kept rooms .* in layout {number}, .*{words}"
    ) as caught:
        await node()
    assert caught.value.code == code


async def test_a_mark_that_is_older_than_any_room_counts_no_more(store: Store, node: NodeMaker) -> None:
    await marked(store, NEWER, "7.8.9", seconds_ago=LIFETIME + 60)
    await (await node()).player()


async def test_a_node_of_a_layout_that_can_be_read_is_no_hindrance(
    store: Store, node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "READABLE", range(OLDER, NEWER + 1))
    await marked(store, OLDER, "0.0.1")
    await marked(store, NEWER, "7.8.9")
    one = await node()
    ana = await one.player()
    room = await ana.create()
    await noted(one, room, layout=OLDER)
    await ana.join(room)


async def test_a_backup_that_only_another_version_can_serve_is_told_of_when_it_is_restored(
    store: Store, tmp_path: Path
) -> None:
    await marked(store, NEWER, "7.8.9")
    path = tmp_path / "backup"
    path.write_bytes(b"".join([part async for part in Writer(store).parts(1000)]))
    with pytest.raises(StartupError, match=r"^Samedeal 7\.8\.9 has kept rooms") as caught:
        await _restore(path, Config(data=tmp_path / "data", durability="everysec"), replace=False)
    assert caught.value.code == "store_newer"

"""Tests of a Redis that is shared with other versions of Samedeal. Rooms that cannot be served are refused unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from websockets.exceptions import ConnectionClosed

import samedeal
from samedeal.games import offer
from samedeal.options import WantedOptions
from samedeal.protocol.admin import BanLine, Status
from samedeal.protocol.messages import (
    Create,
    Created,
    Done,
    Hello,
    Join,
    Leave,
    ListRecords,
    ListRooms,
    RaceNow,
    ReadRecord,
    Refused,
    Rematch,
    Rooms,
    RoomState,
    Start,
    Watch,
)
from samedeal.protocol_codes import CloseCode
from samedeal.race import openings
from samedeal.solver.solve import SOLVER
from samedeal_server.config.config import Config
from samedeal_server.operators.backup import Writer
from samedeal_server.process.restore import restore
from samedeal_server.races.earlier import EarlierRace
from samedeal_server.store import keys, schema
from samedeal_server.store import store as store_module
from samedeal_server.store.store import LIFETIME, Store
from tests.server.captured_log import Log
from tests.server.client import Client
from tests.server.expected_errors import refused
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import finish, kept, race, seated
from tests.server.waiting import until
from tests.shared.sixth_game import HAMLET_FILE

NEWER = schema.READABLE_VERSIONS[-1] + 1
OLDER = schema.READABLE_VERSIONS[0] - 1


async def set_meta(redis: RedisClient, room: str, **fields: Any) -> None:
    """Set fields of a room's meta hash, as another version would have set them."""
    await redis.hset(keys.meta(room), mapping=fields)


async def stored_room(redis: RedisClient, room: str) -> dict[str, Any]:
    """Return everything that Redis stores about a room, including its entry in the index of rooms."""
    names = [keys.meta(room), keys.secret(room), keys.events(room), keys.spectators(room)]
    found = {name: await redis.dump(name) for name in names}
    return {**found, keys.ROOMS: await redis.zscore(keys.ROOMS, room)}


async def listed(client: Client) -> list[str]:
    return [line.room for line in (await client.expect(Rooms, ListRooms)).rooms]


@pytest.mark.parametrize(
    "fields",
    [{"schema": NEWER}, {"schema": OLDER}, {"schema": ""}, {"engine": samedeal.ENGINE + 1}],
    ids=["newer", "older", "missing", "other engine"],
)
async def test_room_of_other_version_is_refused_unchanged(
    redis: RedisClient, one: Node, fields: dict[str, Any]
) -> None:
    ana = await one.player()
    room, other = await ana.create("friday"), await ana.create("monday")
    await set_meta(redis, room, **fields)
    before = await stored_room(redis, room)
    for request in (Join, Watch):
        refusal = await ana.refused("other_version", request, room=room)
        assert samedeal.__version__ in refusal.message
        assert refusal.retry_after == 5
    assert await listed(ana) == [other]
    await one.upkeep.repair()
    await one.upkeep.refresh()
    assert await stored_room(redis, room) == before
    await ana.refused("room_exists", Create, room=room, options=WantedOptions())


async def test_joint_deal_of_another_solver_is_refused(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    (ana,) = await seated(one, names=["ana"], deal="winnable")
    await ana.expect(Done, Leave)
    monkeypatch.setattr(openings, "SOLVER", SOLVER + 1)
    await ana.refused("other_version", Join, room=ana.room)


@pytest.mark.parametrize("deal", ["random", "winnable"])
async def test_room_with_other_rules_is_refused(redis: RedisClient, node: NodeMaker, tmp_path: Path, deal: str) -> None:
    (tmp_path / "hamlet.toml").write_text(HAMLET_FILE)
    one = await node(games=tmp_path)
    (ana,) = await seated(one, names=["ana"], games=("willow", "hamlet"), deal=deal)
    await ana.expect(Done, Leave)
    search = "search = [{ card = 2, side_card = 3 }]\n" + HAMLET_FILE
    others = [{}, {"hamlet": HAMLET_FILE.replace("3 3", "4 3")}, *([{"hamlet": search}] if deal == "winnable" else [])]
    for files in others:
        offer(files)
        await ana.refused("other_version", Join, room=ana.room)
    offer({"hamlet": HAMLET_FILE if deal == "winnable" else search})
    await ana.join(ana.room)


async def test_due_room_of_other_version_is_postponed(redis: RedisClient, one: Node) -> None:
    ana = await one.player()
    room = await ana.create()
    await set_meta(redis, room, schema=NEWER)
    await redis.zadd(keys.DUE, {room: 1})
    before = await stored_room(redis, room)
    await one.upkeep.sweep()
    assert await one.store.index.due(await one.store.now(), 10) == []
    assert await stored_room(redis, room) == before


async def test_unknown_room_fields_are_ignored(redis: RedisClient, one: Node) -> None:
    ana = await one.player()
    room = await ana.create()
    race = msgpack.unpackb(await redis.hget(keys.meta(room), "race"))
    race |= {"options": race["options"] | {"fog": True}, "weather": "rain"}
    await set_meta(redis, room, race=msgpack.packb(race))
    await ana.join(room)
    assert (await ana.until(RoomState)).options.players == 8


async def test_unknown_event_kind_is_skipped(redis: RedisClient, one: Node, two: Node) -> None:
    ana, bob = await seated(one, two)
    before = int(await redis.hget(keys.meta(ana.room), "last_event"))
    number = await redis.hincrby(keys.meta(ana.room), "last_event", 1)
    await redis.xadd(keys.events(ana.room), {"previous": before, "time": 1, "event": b"X\xff"}, id=f"{number}-0")
    await redis.publish(keys.channel(ana.room), b"%d:%d:1:X\xff" % (number, before))
    await ana.expect(Done, Start)
    await ana.dealt()
    await bob.dealt()
    await ana.acts(3)
    await bob.refused("not_over", Rematch)


async def spoil(redis: RedisClient, key: bytes) -> None:
    """Replace a value by one of a form that no release has, of the same type in Redis."""
    match await redis.type(key):
        case b"hash":
            await redis.hset(key, mapping=dict.fromkeys(await redis.hkeys(key), b"\xc1 another form"))
        case b"stream":
            entries = await redis.xrange(key)
            await redis.delete(key)
            for id_, _ in entries:
                await redis.xadd(key, {"form": "another"}, id=id_)
        case _:
            await redis.set(key, b"\xc1 another form", keepttl=True)


async def test_values_of_another_form_are_no_fault(redis: RedisClient, one: Node, node: NodeMaker) -> None:
    """Each value is spoilt in turn, a player returns to the race, and the server knows what it is told by the rest."""
    ended = await race(one, room="monday")
    await finish(*ended)
    await kept(ended[0], "monday")
    await one.store.earlier.keep("willow", "monday.1", EarlierRace("random", SOLVER, 1, 1, (), ()))
    await one.store.earlier.change_past(ended[0].player, lambda past: past.with_race("monday.1", 1, "random"))
    ana, bob = await race(one, room="friday", undo="free")
    for client in (ana, bob):
        await client.acts(3)
        await client.close()
    await one.agent.nodes.ban(BanLine(target="203.0.113.0/24", since=1))
    two, codes = await node(token=TOKEN), set[str]()
    spoilt = [key for key in await redis.keys("samedeal:*") if await redis.type(key) != b"zset"]
    for key in sorted(spoilt):
        value, ttl = await redis.dump(key), max(0, await redis.pttl(key))
        if value is None:
            continue  # it has expired
        await spoil(redis, key)
        cleo, operator = await two.player("cleo"), await Operator.login(two.url)
        client = await Client.connect(two.url)
        for kind, fields in (
            *((Hello, {"name": "ana", "session": ana.session}), (Join, {"room": "friday"}), (ListRooms, {})),
            *((ListRecords, {}), (ReadRecord, {"race": "monday"}), (RaceNow, {"game": "willow"})),
        ):
            try:
                codes.add(getattr(await client.ask(kind, **fields), "code", ""))
            except (ConnectionError, ConnectionClosed):  # moves that cannot be read: a client tries another node
                assert client.socket.close_code == CloseCode.RESTART
                codes |= {each.code for each in client.inbox if isinstance(each, Refused)}
                break
        await cleo.ask(Watch, room="friday")
        await operator.ask(Status)
        await two.agent.nodes.bans(await two.store.now())
        await two.store.news.take("hook", 0)
        for each in (client, cleo, operator):
            await each.close()
        await two.upkeep.sweep()
        await redis.restore(key, ttl, value, replace=True)
    assert "other_version" in codes
    assert "fault" not in codes
    assert two.metric("faults_total") == one.metric("faults_total") == 0


@pytest.mark.parametrize("error", [TypeError, KeyError, AttributeError])
async def test_mistake_in_a_decoder_is_a_fault(
    one: Node, node: NodeMaker, monkeypatch: pytest.MonkeyPatch, log: Log, error: type[Exception]
) -> None:
    """It is not taken for data of another release, so it is counted and logged."""
    log.set_up()
    await seated(one, room="friday")
    two = await node()
    cleo = await two.player("cleo")

    def mistaken(*_: object) -> None:
        raise error("a mistake")

    monkeypatch.setattr(store_module, "_decode_progress", mistaken)
    await cleo.send(Watch, room="friday")
    assert (await cleo.until(Refused)).code == "fault"
    await until(lambda: two.metric("faults_total"))
    assert "a mistake" in log.read()


@pytest.fixture
async def store(node: NodeMaker) -> Store:
    return (await node()).store


async def record_schema(redis: RedisClient, store: Store, schema: int, release: str, seconds_ago: int = 0) -> None:
    """Leave the record of a node of another release."""
    await redis.hset(keys.SCHEMAS, str(schema), f"{await store.now() - 1000 * seconds_ago} {release}")


async def test_node_records_its_schema_version(redis: RedisClient, store: Store) -> None:
    [(number, value)] = (await redis.hgetall(keys.SCHEMAS)).items()
    recorded_at, version = value.decode().split()
    assert (int(number), version) == (schema.SCHEMA_VERSION, samedeal.__version__)
    assert 0 <= await store.now() - int(recorded_at) < 60_000


@pytest.mark.parametrize(("number", "code"), [(NEWER, "store_newer"), (OLDER, "store_older")])
async def test_store_of_unreadable_schema_is_refused(
    redis: RedisClient, store: Store, node: NodeMaker, number: int, code: str
) -> None:
    await record_schema(redis, store, number, "7.8.9")
    with refused(code):
        await node()


async def test_outdated_schema_record_is_ignored(redis: RedisClient, store: Store, node: NodeMaker) -> None:
    await record_schema(redis, store, NEWER, "7.8.9", seconds_ago=LIFETIME + 60)
    await (await node()).player()


async def test_release_that_knows_no_windows_leaves_them_alone(one: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on with all other rooms, so both can share a Redis."""
    ana = await one.player()
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable")
    window = (await ana.expect(Created, Create, options=options, window=3_600)).room
    other = await ana.create()
    monkeypatch.setattr(schema, "READABLE_VERSIONS", range(2, schema.WINDOW_SCHEMA_VERSION))
    await ana.refused("other_version", Join, room=window)
    await ana.join(other)


async def test_restore_of_newer_backup_is_refused(redis: RedisClient, store: Store, tmp_path: Path) -> None:
    await record_schema(redis, store, NEWER, "7.8.9")
    path = tmp_path / "backup"
    path.write_bytes(b"".join([part async for part in Writer(store).parts(1000)]))
    with refused("store_newer"):
        await restore(path, Config(data=tmp_path / "data", durability="everysec"), replace=False)

"""Tests of the log: its events, its formats, and that it never contains secrets."""

from __future__ import annotations

import asyncio
import io
import logging
import sys
from urllib.parse import urlsplit

import pytest
import structlog
from redis.asyncio import Redis
from websockets.exceptions import InvalidMessage

from samedeal.options import Options
from samedeal.protocol.admin import Status, Survey
from samedeal.protocol.messages import Act, Create, Join, ListRooms, Resign
from samedeal_server.config.config import LogStyle
from samedeal_server.config.limits import Limits
from samedeal_server.rooms import upkeep
from samedeal_server.store import availability
from tests.chaos.processes import RedisServer
from tests.server.captured_log import Log
from tests.server.live_nodes import NodeMaker, RedisClient
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import answered, athena_race, finish
from tests.server.waiting import until


async def test_race_is_logged_with_players_and_room(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    ana, bob = await athena_race(await node())
    await ana.act("draw")
    await finish(ana, bob)
    await bob.close()
    disconnected = await log.until("disconnected")
    assert [each["event"] for each in log.events() if each["event"] != "race_changed"] == [
        *("connected", "hello", "connected", "hello", "room_created", "joined", "joined", "disconnected")
    ]
    first, second = log.named("hello")
    assert (first["player"], first["name"], second["name"]) == (ana.player, "ana", "bob")
    assert log.named("room_created", connection=first["connection"], player=ana.player, room=ana.room)
    assert log.named("joined", player=bob.player, room=ana.room)
    assert tuple(disconnected[field] for field in ("player", "room", "reason", "code")) == (
        bob.player,
        ana.room,
        "normal",
        1000,
    )
    assert log.named("race_changed", room=ana.room)[0]["changes"] == ["opened"]
    (finished,) = log.named("race_changed", phase="finished")
    assert [(each["place"], each["player"]) for each in finished["standings"]] == [(1, ana.player), (1, bob.player)]
    for event in log.events():
        assert list(event)[:4] == ["timestamp", "level", "event", "node"]
        assert event["node"] == "n1"


async def test_secrets_are_logged_at_no_level(redis: RedisClient, node: NodeMaker, log: Log) -> None:
    """This holds in normal operation, for malformed frames, and when Redis rejects writes."""
    log.set_up("debug")
    logging.getLogger("websockets").debug("never logged, because it would show frames")
    one = await node()
    ana, bob = await athena_race(one, passphrase="sesam-oeffne-dich")
    secret = await one.secret(ana.room)
    await ana.acts(10)
    await ana.refused("illegal", Act, revision=10, action="7 7")
    stranger = await one.player("eve")
    await stranger.refused("bad_passphrase", Join, room=ana.room, passphrase="sesam-schliess-dich")
    await stranger.socket.send(b"\xc1" + secret.deal.seed)
    try:
        await redis.config_set("maxmemory", 1)
        await ana.refused("unavailable", Act, revision=10, action="draw")
        await bob.refused("unavailable", Resign)
        await stranger.refused("unavailable", Join, room=ana.room, passphrase="sesam-oeffne-dich")
    finally:
        await redis.config_set("maxmemory", 0)
    await finish(ana, bob)
    assert log.named("redis_error", during="act")
    assert log.named("request_refused", code="illegal", player=ana.player)
    text = log.read()
    assert not [client.session for client in (ana, bob, stranger) if client.session in text]
    seed = secret.deal.seed
    for secret_text in (
        seed.hex(),
        repr(seed)[2:14],
        secret.salt.hex(),
        secret.hash.hex(),
        "sesam",
        "never logged",
        "draw",
    ):
        assert secret_text not in text


@pytest.mark.parametrize("style", ["json", "pretty"])
async def test_control_characters_are_replaced(node: NodeMaker, log: Log, style: LogStyle) -> None:
    log.set_up("info", style)
    structlog.get_logger().info("hello", client="ev\x1b]0;il\x07\n\u202eleft", key="\x9b31m")
    logging.getLogger("asyncio").error("broken %s", "\x1b[2J")
    text = log.read()
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize("style", ["json", "pretty"])
def test_library_logs_are_formatted_alike(log: Log, style: LogStyle) -> None:
    log.set_up("info", style)
    log.set_up("info", style)  # as when settings are read again
    try:
        raise ValueError("on purpose")
    except ValueError:
        logging.getLogger("asyncio").exception("Task exception was never retrieved")
    text = log.read()
    assert text.count("never retrieved") == 1
    assert text.count("Error: on purpose" if style == "pretty" else '"on purpose"') == 1
    if style == "json":
        (event,) = log.events()
        assert (event["level"], event["library"], event["node"]) == ("error", "asyncio", "n1")


def test_level_applies_to_libraries(log: Log) -> None:
    log.set_up("warning")
    for logger in (structlog.get_logger(), logging.getLogger("redis"), logging.getLogger("asyncio")):
        logger.info("not this")
        logger.warning("this")
    assert [event["event"] for event in log.events()] == ["this"] * 3


async def test_malformed_handshakes_are_throttled(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    one = await node()
    parts = urlsplit(one.url)
    for number in range(20):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        await reader.read()
        writer.close()
        if not number:
            await log.until("handshake_rejected", reason="malformed", count=1, address="127.0.0.1")
    assert len(log.named("handshake_rejected")) == 1
    assert "Traceback" not in log.read()
    await one.becomes("handshakes_refused_total", 20, reason="malformed")
    assert one.metric("handshakes_refused_total", reason="silent") == 0


async def test_refused_rooms_are_throttled(node: NodeMaker, log: Log) -> None:
    one = await node(Limits(rooms=1))
    ana = await one.player()
    await ana.create()
    log.set_up("warning")
    for _ in range(3):
        await ana.refused("server_full", Create, options=Options())
    (full,) = log.events()
    assert (full["event"], full["reason"], full["limit"], full["count"]) == ("server_full", "limit-rooms", 1, 1)


async def test_silent_and_malformed_handshakes_are_counted_apart(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    one = await node()
    parts = urlsplit(one.url)
    for said in (b"", b"GET / HTTP/1.1\r\nHost: n\r\nUpgrade: websocket\r\n\r\n"):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(said)
        writer.write_eof()
        await reader.read()
        writer.close()
    assert "Connection header" in (await log.until("handshake_rejected", reason="malformed"))["error"]
    assert [one.metric("handshakes_refused_total", reason=reason) for reason in ("malformed", "silent")] == [1, 1]


def test_fault_in_a_handshake_keeps_its_traceback(log: Log) -> None:
    log.set_up("info")
    for error in (InvalidMessage("no HTTP"), ValueError("ours")):
        logging.getLogger("websockets.server").error("opening handshake failed", exc_info=error)
    first, second = log.events()
    assert (first["event"], first["error"]) == ("handshake_rejected", "no HTTP")
    assert (second["level"], second["exception"][0]["exc_value"]) == ("error", "ours")


async def test_redis_down_and_up_are_logged_once(
    node: NodeMaker, log: Log, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(availability.DOWN, "quiet_time", 1_000)
    log.set_up("info")
    one = await node(redis=own_redis.url)
    ana, bob = await athena_race(one)
    await own_redis.kill()
    for _ in range(5):
        await ana.refused("unavailable", ListRooms)
        await bob.refused("unavailable", Act, revision=0, action="draw")
    await own_redis.start()
    monkeypatch.setattr(availability.DOWN, "quiet_time", 0.2)
    await answered(ana, ListRooms)
    await log.until("redis_up")
    assert [event["event"] for event in log.events() if event["level"] == "warning"] == ["redis_down"]
    assert len(log.named("redis_up")) == 1
    assert "Traceback" not in log.read()


@pytest.mark.parametrize(
    ("refuse", "accept", "reason"),
    [
        (("CONFIG SET", "maxmemory", "1"), ("CONFIG SET", "maxmemory", "0"), "maxmemory"),
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE"), "read only replica"),
        (("CONFIG SET", "min-replicas-to-write", "1"), ("CONFIG SET", "min-replicas-to-write", "0"), "NOREPLICAS"),
    ],
    ids=["full", "replica", "too_few_replicas"],
)
async def test_rejected_writes_are_logged_once_and_shown_to_operators(
    node: NodeMaker,
    log: Log,
    own_redis: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    refuse: tuple[str, ...],
    accept: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.setattr(availability.REJECTS, "quiet_time", 1_000)
    log.set_up("info")
    one = await node(redis=own_redis.url, token=TOKEN)
    ana, bob = await athena_race(one)
    operator = await Operator.login(one.url)
    assert (await operator.expect(Survey, Status)).redis.problem == ""
    async with Redis.from_url(own_redis.url) as redis:
        client: RedisClient = redis
        await client.execute_command(*refuse)
        for _ in range(5):
            await ana.refused("unavailable", Act, revision=0, action="draw")
            await bob.refused("unavailable", Act, revision=0, action="draw")
        assert reason in (await operator.expect(Survey, Status)).redis.problem
        await client.execute_command(*accept)
    monkeypatch.setattr(availability.REJECTS, "quiet_time", 0.2)
    await log.until("redis_accepts")
    (rejection,) = log.named("redis_rejects")
    assert rejection["level"] == "warning"
    assert reason in rejection["error"]
    assert (await operator.expect(Survey, Status)).redis.problem == ""
    assert [event["event"] for event in log.events() if event["level"] == "warning"] == ["redis_rejects"]


async def test_settings_that_lose_moves_are_logged_once(
    node: NodeMaker, log: Log, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node notices by itself that the settings were changed while it runs."""
    monkeypatch.setattr(upkeep, "REFRESH_INTERVAL", 0.02)
    log.set_up("info")
    async with Redis.from_url(own_redis.url) as redis:
        await redis.config_set("appendonly", "no")
        one = await node(redis=own_redis.url, token=TOKEN)
        assert len(log.named("redis_unsafe", level="warning")) == 1
        operator = await Operator.login(one.url)

        async def says(text: str) -> bool:
            problem = (await operator.expect(Survey, Status)).redis.problem
            return text in problem if text else not problem

        await redis.config_set("appendonly", "yes")
        await until(lambda: says(""))
        await redis.config_set("maxmemory-policy", "volatile-lru")
        await until(lambda: says("volatile-lru, so acknowledged moves are evicted once"))
        await redis.config_set("maxmemory", "1gb")
        await until(lambda: says("volatile-lru, so acknowledged moves are evicted when"))
        assert ["appendonly" in line["problem"] for line in log.named("redis_unsafe")] == [True, False, False]


def test_closed_pipe_is_ignored(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    class ClosedPipe(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    log.set_up()
    structlog.get_logger().info("lost")
    logging.getLogger("asyncio").error("lost")

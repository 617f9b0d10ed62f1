"""Tests of the log: its events, its formats, and that it never contains secrets."""

from __future__ import annotations

import logging

import pytest
import structlog

from samedeal.protocol.admin import Status, Survey
from samedeal.protocol.messages import Act
from samedeal_server.config.config import LogStyle
from samedeal_server.rooms import upkeep
from samedeal_server.store import availability
from tests.chaos.processes import RedisServer
from tests.server.captured_log import Log
from tests.server.live_nodes import NodeMaker
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import finish, race
from tests.server.raw_client import Wire
from tests.server.waiting import until


async def test_race_is_logged_with_players_and_room(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    ana, bob = await race(await node())
    await ana.act("draw")
    await finish(ana, bob)
    await bob.close()
    disconnected = await log.until("disconnected")
    assert [each["event"] for each in log.events() if each["event"] != "race_changed"] == [
        *("connected", "hello", "connected", "hello", "room_created", "joined", "joined", "disconnected")
    ]
    first, _ = log.named("hello")
    assert log.named("room_created", connection=first["connection"], player=ana.player, room=ana.room)
    found = [disconnected[field] for field in ("player", "room", "reason", "code")]
    assert found == [bob.player, ana.room, "normal", 1000]
    (finished,) = log.named("race_changed", phase="finished", room=ana.room)
    assert [(each["place"], each["player"]) for each in finished["standings"]] == [(1, ana.player), (1, bob.player)]
    for event in log.events():
        assert list(event)[:4] == ["timestamp", "level", "event", "node"]
        assert event["node"] == "n1"


@pytest.mark.parametrize("style", ["json", "pretty"])
async def test_control_characters_are_replaced(node: NodeMaker, log: Log, style: LogStyle) -> None:
    log.set_up("info", style)
    structlog.get_logger().info("hello", client="ev\x1b]0;il\x07\n\u202eleft", key="\x9b31m")
    logging.getLogger("asyncio").error("broken %s", "\x1b[2J")
    text = log.read()
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    assert len(text.splitlines()) == 2


async def test_malformed_handshakes_are_throttled(node: NodeMaker, log: Log) -> None:
    """Those that end before they say anything are counted apart."""
    log.set_up("info")
    one = await node()
    lacking = b"GET / HTTP/1.1\r\nHost: n\r\nUpgrade: websocket\r\n\r\n"
    for number, said in enumerate([lacking] + 19 * [b"\x16\x03\x01 this is no HTTP\r\n\r\n"] + [b""]):
        wire = await Wire.open(one.url)
        await wire.send(said)
        wire.writer.write_eof()
        await wire.eof()
        if not number:
            rejected = await log.until("handshake_rejected", reason="malformed", count=1, address="127.0.0.1")
            assert "Connection header" in rejected["error"]
    await one.becomes("handshakes_refused_total", 20, reason="malformed")
    await one.becomes("handshakes_refused_total", 1, reason="silent")
    assert len(log.named("handshake_rejected")) == 1
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
    (ana,) = await race(one, names=["ana"])
    operator = await Operator.login(one.url)
    await own_redis.do(*refuse)
    for _ in range(5):
        await ana.refused("unavailable", Act, revision=0, action="draw")
    assert reason in (await operator.expect(Survey, Status)).redis.problem
    await own_redis.do(*accept)
    monkeypatch.setattr(availability.REJECTS, "quiet_time", 0.2)
    await log.until("redis_accepts")
    assert (await operator.expect(Survey, Status)).redis.problem == ""
    (rejection,) = [event for event in log.events() if event["level"] == "warning"]
    assert (rejection["event"], reason in rejection["error"]) == ("redis_rejects", True)


async def test_settings_that_lose_moves_are_logged_once(
    node: NodeMaker, log: Log, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node notices by itself that the settings were changed while it runs."""
    monkeypatch.setattr(upkeep, "REFRESH_INTERVAL", 0.02)
    log.set_up("info")
    await own_redis.do("CONFIG SET", "appendonly", "no")
    one = await node(redis=own_redis.url, token=TOKEN)
    assert len(log.named("redis_unsafe", level="warning")) == 1
    operator = await Operator.login(one.url)

    async def says(text: str) -> bool:
        problem = (await operator.expect(Survey, Status)).redis.problem
        return text in problem if text else not problem

    for name, value, told in (
        ("appendonly", "yes", ""),
        ("maxmemory-policy", "volatile-lru", "volatile-lru, so acknowledged moves are evicted once"),
        ("maxmemory", "1gb", "volatile-lru, so acknowledged moves are evicted when"),
    ):
        await own_redis.do("CONFIG SET", name, value)
        await until(lambda told=told: says(told))  # type: ignore[misc]  # bound at once
    assert ["appendonly" in line["problem"] for line in log.named("redis_unsafe")] == [True, False, False]

"""What is logged: a line for each thing that an operator asks about, and never what is secret."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import structlog
from websockets.exceptions import InvalidMessage

from samedeal.names import clean_name
from samedeal.protocol.messages import Act, Done, Join, ListRooms, Resign, Rooms, Start
from samedeal_server import logs
from samedeal_server.config import Config, LogStyle
from samedeal_server.store import pulse
from tests.server.client import DEADLINE, Client
from tests.server.conftest import Node, NodeMaker
from tests.server.test_faults import OwnRedis, own_redis

__all__ = ["own_redis"]  # a fixture


class Log:
    """What was logged, as it came out."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self.text = ""

    def set_up(self, level: str = "debug", style: LogStyle = "json") -> None:
        self._capture.readouterr()
        logs.set_up(Config(log_level=level, log_style=style), "n1")  # type: ignore[arg-type]

    def read(self) -> str:
        out, errors = self._capture.readouterr()
        assert not errors
        self.text += out
        return self.text

    def events(self) -> list[dict[str, Any]]:
        """All events; each is one line."""
        return [json.loads(line) for line in self.read().splitlines()]

    def named(self, event: str, **fields: object) -> list[dict[str, Any]]:
        return [
            each
            for each in self.events()
            if each["event"] == event and all(each.get(name) == value for name, value in fields.items())
        ]

    async def until(self, event: str, **fields: object) -> dict[str, Any]:
        async with asyncio.timeout(DEADLINE):
            while not (found := self.named(event, **fields)):  # noqa: ASYNC110  # a log sets no event
                await asyncio.sleep(0.01)
        return found[-1]


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Iterator[Log]:
    """The log of the test; afterwards logs are as they were."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield Log(capsys)
    root.setLevel(level)
    root.handlers[:] = handlers
    structlog.reset_defaults()


async def race(one: Node, **options: Any) -> tuple[Client, Client]:
    ana, bob = await one.player("ana"), await one.player("bob")
    room = await ana.create(games=("athena",), **options)
    for client in (ana, bob):
        await client.join(room, passphrase=options.get("passphrase", ""))
    await ana.want(Done, Start)
    for client in (ana, bob):
        await client.dealt()
    return ana, bob


async def test_a_race_is_told_with_who_and_where(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    ana, bob = await race(await node())
    await ana.act("draw")
    for client in (ana, bob):
        await client.want(Done, Resign)
    await ana.phase("finished")
    await bob.close()
    gone = await log.until("gone")
    assert [each["event"] for each in log.events() if each["event"] != "race"] == [
        *("connected", "hello", "connected", "hello", "opened", "joined", "joined", "gone")
    ]
    first, second = log.named("hello")
    assert (first["player"], first["name"], second["name"]) == (ana.player, "ana", "bob")
    assert log.named("opened", connection=first["connection"], player=ana.player, room=ana.room)
    assert log.named("joined", player=bob.player, room=ana.room)
    assert (gone["player"], gone["room"], gone["why"], gone["code"]) == (bob.player, ana.room, "normal", 1000)
    assert log.named("race", room=ana.room)[0]["what"] == ["opened"]
    (finished,) = log.named("race", phase="finished")
    assert [(each["place"], each["player"]) for each in finished["standings"]] == [(1, ana.player), (1, bob.player)]
    for event in log.events():
        assert list(event)[:4] == ["timestamp", "level", "event", "node"]
        assert event["node"] == "n1"


async def test_nothing_secret_is_logged_at_any_level(node: NodeMaker, log: Log) -> None:
    """Invariant 3: not when all goes well, not when Redis refuses, not when the server makes a mistake."""
    log.set_up("debug")
    logging.getLogger("websockets").debug("is never heard: it would tell frames")
    one = await node()
    ana, bob = await race(one, passphrase="sesam-oeffne-dich")
    secret = await one.store.secret(ana.room)
    assert secret is not None
    await ana.acts(10)
    await ana.refused("illegal", Act, revision=10, action="7 7")
    stranger = await one.player("eve")
    await stranger.refused("bad_passphrase", Join, room=ana.room, passphrase="sesam-schliess-dich")
    await stranger.socket.send(b"\xc1" + secret.seed)
    try:
        await one.store.redis.config_set("maxmemory", 1)
        await ana.refused("unavailable", Act, revision=10, action="draw")
        await bob.refused("unavailable", Resign)
        await stranger.refused("unavailable", Join, room=ana.room, passphrase="sesam-oeffne-dich")
    finally:
        await one.store.redis.config_set("maxmemory", 0)
    for client in (ana, bob):
        await client.want(Done, Resign)
    await ana.phase("finished")
    assert log.named("redis", doing="Act")
    assert log.named("refused", code="illegal", player=ana.player)
    text = log.read()
    assert not [client.session for client in (ana, bob, stranger) if client.session in text]
    seed = secret.seed
    for told in (seed.hex(), repr(seed)[2:14], secret.salt.hex(), secret.hash.hex(), "sesam", "never heard", "draw"):
        assert told not in text


@pytest.mark.parametrize("style", ["json", "pretty"])
async def test_what_a_client_calls_itself_is_not_obeyed_by_a_terminal(
    node: NodeMaker, log: Log, style: LogStyle
) -> None:
    log.set_up("info", style)
    structlog.get_logger().info("hello", client="ev\x1b]0;il\x07\n\u202eleft", key="\x9b31m")
    logging.getLogger("asyncio").error("broken %s", "\x1b[2J")
    text = log.read()
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize("style", ["json", "pretty"])
def test_libraries_are_heard_the_same_way(log: Log, style: LogStyle) -> None:
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


def test_the_level_is_that_of_all(log: Log) -> None:
    log.set_up("warning")
    for logger in (structlog.get_logger(), logging.getLogger("redis"), logging.getLogger("asyncio")):
        logger.info("not this")
        logger.warning("this")
    assert [event["event"] for event in log.events()] == ["this"] * 3


async def test_garbage_at_the_door_is_a_line_and_a_flood_of_it_is_one(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    one = await node()
    parts = urlsplit(one.url)
    for number in range(20):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        await reader.read()
        writer.close()
        if not number:
            await log.until("turned_away", reason="malformed", times=1, address="127.0.0.1")
    assert len(log.named("turned_away")) == 1
    assert "Traceback" not in log.read()
    refused = one.gateway.metrics.handshakes_refused
    async with asyncio.timeout(DEADLINE):
        while refused["malformed"].value < 20:  # noqa: ASYNC110  # a count sets no event
            await asyncio.sleep(0.01)
    assert refused["silent"].value == 0


async def test_what_is_no_websocket_and_who_says_nothing_are_told_apart(node: NodeMaker, log: Log) -> None:
    log.set_up("info")
    one = await node()
    parts = urlsplit(one.url)
    for said in (b"", b"GET / HTTP/1.1\r\nHost: n\r\n\r\n"):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(said)
        writer.write_eof()
        await reader.read()
        writer.close()
    assert "Connection header" in (await log.until("turned_away", reason="malformed"))["error"]
    refused = one.gateway.metrics.handshakes_refused
    assert (refused["malformed"].value, refused["silent"].value) == (1, 1)


def test_a_mistake_of_ours_in_a_handshake_keeps_its_traceback(log: Log) -> None:
    log.set_up("info")
    for error in (InvalidMessage("no HTTP"), ValueError("ours")):
        logging.getLogger("websockets.server").error("opening handshake failed", exc_info=error)
    first, second = log.events()
    assert (first["event"], first["error"]) == ("turned_away", "no HTTP")
    assert (second["level"], second["exception"][0]["exc_value"]) == ("error", "ours")


async def test_a_redis_that_is_away_is_told_once_and_so_is_its_return(
    node: NodeMaker, log: Log, own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "SETTLED", 0.2)
    log.set_up("info")
    one = await node(redis=own_redis.url)
    ana, bob = await race(one)
    await own_redis.kill()
    for _ in range(5):
        await ana.refused("unavailable", ListRooms)
        await bob.refused("unavailable", Act, revision=0, action="draw")
    await own_redis.start()
    async with asyncio.timeout(DEADLINE):
        while not isinstance(await ana.ask(ListRooms), Rooms):
            pass
    await log.until("redis_back")
    assert [event["event"] for event in log.events() if event["level"] == "warning"] == ["redis_away"]
    assert len(log.named("redis_back")) == 1
    assert "Traceback" not in log.read()


def test_a_reader_that_is_gone_ends_nothing(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    log.set_up()
    structlog.get_logger().info("nobody hears this")
    logging.getLogger("asyncio").error("nor this")


def test_a_name_stays_what_it_is(log: Log) -> None:
    log.set_up("info", "pretty")
    structlog.get_logger().info("hello", name=clean_name("Żółć 漢字"))
    assert "Żółć 漢字" in log.read()

"""The listener for those who look after a node: alive, ready, measured; and unmoved by garbage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http.client import HTTPResponse
from io import BytesIO
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from samedeal_server import health as healths
from samedeal_server.errors import StartupError
from samedeal_server.health import Health
from tests.chaos.proxy import Proxy
from tests.server.client import DEADLINE
from tests.server.conftest import Node, NodeMaker
from tests.server.test_faults import OwnRedis, own_redis

__all__ = ["own_redis"]  # a fixture


@dataclass
class Listener:
    """A health listener of a node, asked over its socket."""

    health: Health
    url: str

    async def sent(self, request: bytes) -> bytes:
        """What comes back for these bytes until the listener closes."""
        parts = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        async with asyncio.timeout(DEADLINE):
            writer.write(request)
            try:
                return await reader.read()
            except ConnectionError:
                return b""
            finally:
                writer.close()

    async def get(self, path: str, method: str = "GET", version: str = "1.1") -> tuple[int, str]:
        """The status and the text of an answer."""
        answer = await self.sent(f"{method} {path} HTTP/{version}\r\nHost: node\r\n\r\n".encode())
        response = HTTPResponse(cast("Any", Received(answer)), method=method)
        response.begin()
        text = response.read().decode()
        assert response.headers["Cache-Control"] == "no-store"
        return response.status, text


class Received:
    """Bytes as the standard library's reader of answers wants them."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, _mode: str) -> BytesIO:
        return BytesIO(self.data)


Listen = Callable[[Node], Awaitable[Listener]]


@pytest.fixture
async def listen() -> AsyncIterator[Listen]:
    async with AsyncExitStack() as stack:

        async def start(node: Node) -> Listener:
            health = Health(node.gateway)
            return Listener(health, await stack.enter_async_context(health.listen("127.0.0.1", 0)))

        yield start


async def test_a_node_is_alive_ready_and_measured(node: NodeMaker, listen: Listen) -> None:
    one = await node()
    at = await listen(one)
    assert await at.get("/healthz") == (200, "This node is alive\n")
    assert await at.get("/readyz") == (200, "This node takes clients\n")
    await one.player()
    status, text = await at.get("/metrics?format=text")
    assert status == 200
    assert 'samedeal_connections{kind="lobby"} 1.0\n' in text
    assert "process_cpu_seconds_total" in text


async def test_what_is_not_there(node: NodeMaker, listen: Listen) -> None:
    at = await listen(await node())
    for path, method, status in (
        ("/", "GET", 404),
        ("/metrics/", "GET", 404),
        ("/../etc/passwd", "GET", 404),
        ("/readyz", "POST", 405),
        ("/metrics", "DELETE", 405),
    ):
        answered, text = await at.get(path, method)
        assert answered == status, path
        assert len(text) > 20


async def test_checks_of_old_proxies_are_answered(node: NodeMaker, listen: Listen) -> None:
    at = await listen(await node())
    assert await at.get("/readyz", version="1.0") == (200, "This node takes clients\n")
    assert await at.get("/readyz", "HEAD") == (200, "")


GARBAGE = (
    b"\0" * 100 + b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /healthz HTTP/9.9\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
    b"POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
)


async def test_garbage_is_turned_away(node: NodeMaker, listen: Listen) -> None:
    at = await listen(await node())
    for garbage in GARBAGE:
        assert b" 200 " not in (await at.sent(garbage)).partition(b"\r\n")[0], garbage[:50]
        assert (await at.get("/healthz"))[0] == 200


async def test_who_says_nothing_is_not_waited_for(
    node: NodeMaker, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(healths, "_SLOWEST", 0.1)
    at = await listen(await node())
    assert b"200" not in await at.sent(b"GET /hea")
    assert (await at.get("/healthz"))[0] == 200


async def test_it_is_no_way_in_for_players(node: NodeMaker, listen: Listen) -> None:
    at = await listen(await node())
    upgrade = b"GET / HTTP/1.1\r\nHost: n\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    upgrade += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    assert (await at.sent(upgrade)).startswith(b"HTTP/1.1 404 ")


async def test_several_may_ask_at_once_and_one_after_another(node: NodeMaker, listen: Listen) -> None:
    listener = await listen(await node())

    async def ask() -> list[str]:
        return [await listener.health.not_ready() for _ in range(10)]

    assert list(await asyncio.gather(ask(), ask(), ask())) == [[""] * 10] * 3


async def test_a_node_that_stops_is_alive_and_not_ready(node: NodeMaker, listen: Listen) -> None:
    one = await node()
    at = await listen(one)
    at.health.leaving = True
    assert await at.get("/readyz") == (503, "This node is stopping: send nobody here\n")
    assert (await at.get("/healthz"))[0] == 200
    await one.player()  # who was sent here before is still taken
    at.health.leaving = False
    await one.gateway.drain()
    assert (await at.get("/readyz"))[0] == 503


async def test_a_node_whose_redis_is_away_is_not_ready(node: NodeMaker, listen: Listen, own_redis: OwnRedis) -> None:
    at = await listen(await node(redis=own_redis.url))
    assert (await at.get("/readyz"))[0] == 200
    await own_redis.kill()
    status, text = await at.get("/readyz")
    assert status == 503
    assert "Redis" in text
    assert (await at.get("/healthz"))[0] == 200
    assert "samedeal_redis_up 0.0" in (await at.get("/metrics"))[1]
    await own_redis.start()
    async with asyncio.timeout(DEADLINE):
        while (await at.get("/readyz"))[0] != 200:
            pass


async def test_a_node_whose_redis_takes_no_writes_is_not_ready(node: NodeMaker, listen: Listen) -> None:
    one = await node()
    at = await listen(one)
    try:
        await one.store.redis.config_set("maxmemory", 1)
        status, text = await at.get("/readyz")
    finally:
        await one.store.redis.config_set("maxmemory", 0)
    assert (status, "OOM" in text or "memory" in text) == (503, True)
    assert (await at.get("/readyz"))[0] == 200


async def test_a_redis_that_says_nothing_is_not_waited_for(
    node: NodeMaker, listen: Listen, own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(healths, "PATIENCE", 0.2)
    async with Proxy(lambda: [str(own_redis.socket)]) as proxy:
        at = await listen(await node(redis=f"redis://127.0.0.1:{proxy.port}/0"))
        assert (await at.get("/readyz"))[0] == 200
        for wire in proxy.wires:
            wire.stall(60)
        assert (
            await asyncio.gather(*(at.get("/readyz") for _ in range(5)))
            == [(503, "Redis has not answered for 0.2 seconds\n")] * 5
        )


async def test_a_port_in_use_is_said(node: NodeMaker, listen: Listen) -> None:
    at = await listen(await node())
    port = urlsplit(at.url).port
    with pytest.raises(StartupError, match=f"Port {port} is in use: .*--health-port"):
        async with at.health.listen("127.0.0.1", port or 0):
            pass

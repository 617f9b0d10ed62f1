"""Tests of the listener for orchestrators and Prometheus: /healthz, /readyz, /metrics, and malformed requests."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from samedeal_server.process import health
from tests.chaos.processes import RedisServer
from tests.chaos.proxy import Proxy
from tests.golden.golden_files import assert_sentences
from tests.server.client import DEADLINE
from tests.server.expected_errors import refused
from tests.server.health_client import HealthClient
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.waiting import until


@pytest.fixture
async def one(node: NodeMaker) -> Node:
    return await node(health_port=0)


@pytest.fixture
def at(one: Node) -> HealthClient:
    """A client of the health listener."""
    return one.health


async def test_running_node_is_alive_ready_and_measured(one: Node, at: HealthClient) -> None:
    assert [(await at.get(path))[0] for path in ("/healthz", "/readyz")] == [200, 200]
    await one.player()
    status, text = await at.get("/metrics?format=text")
    assert status == 200
    assert 'samedeal_connections{kind="lobby"} 1.0\n' in text
    assert "process_cpu_seconds_total" in text


async def test_wording_of_health_checks(one: Node, at: HealthClient) -> None:
    answers = {path: await at.get(path) for path in ("/healthz", "/readyz", "/")}
    answers["POST /readyz"] = await at.get("/readyz", "POST")
    one.stop.set()
    answers["/readyz of a stopping node"] = await at.get("/readyz")
    assert_sentences("health checks", [f"{case}\t{status} {text.strip()}" for case, (status, text) in answers.items()])


MALFORMED = (
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


async def test_malformed_requests_are_rejected(at: HealthClient) -> None:
    for request in MALFORMED:
        assert b" 200 " not in (await at.send(request)).partition(b"\r\n")[0], request[:50]
        assert (await at.get("/healthz"))[0] == 200


async def test_incomplete_request_times_out(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "REQUEST_TIMEOUT", 0.1)
    at = (await node(health_port=0)).health
    assert b"200" not in await at.send(b"GET /hea")

    async def is_alive() -> bool:  # on a busy machine, a request may take too long too
        return b" 200 " in (await at.send(b"GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n")).partition(b"\r\n")[0]

    await until(is_alive)


async def test_websocket_upgrade_is_refused(at: HealthClient) -> None:
    upgrade = b"GET / HTTP/1.1\r\nHost: n\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    upgrade += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    assert (await at.send(upgrade)).startswith(b"HTTP/1.1 404 ")


async def test_stopping_node_is_alive_but_not_ready(one: Node, at: HealthClient) -> None:
    one.stop.set()
    assert [(await at.get(path))[0] for path in ("/readyz", "/healthz")] == [503, 200]
    await one.player()  # the load balancer may still send clients
    one.stop.clear()
    await one.gateway.drain()
    assert (await at.get("/readyz"))[0] == 503


async def test_node_without_redis_is_not_ready(node: NodeMaker, own_redis: RedisServer) -> None:
    at = (await node(redis=own_redis.url, health_port=0)).health
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


async def test_node_with_readonly_redis_is_not_ready(redis: RedisClient, at: HealthClient) -> None:
    try:
        await redis.config_set("maxmemory", 1)
        status, text = await at.get("/readyz")
    finally:
        await redis.config_set("maxmemory", 0)
    assert (status, "OOM" in text or "memory" in text) == (503, True)
    assert (await at.get("/readyz"))[0] == 200


async def test_probe_of_stalled_redis_times_out(
    node: NodeMaker, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PROBE_TIMEOUT", 0.2)
    async with Proxy(lambda: [own_redis.target]) as proxy:
        at = (await node(redis=f"redis://127.0.0.1:{proxy.port}/0", health_port=0)).health
        assert (await at.get("/readyz"))[0] == 200
        for wire in proxy.connections:
            wire.stall(60)
        answers = await asyncio.gather(*(at.get("/readyz") for _ in range(5)))
        assert [(status, "0.2 seconds" in text) for status, text in answers] == [(503, True)] * 5


async def test_port_in_use_is_refused(node: NodeMaker) -> None:
    at = (await node(health_port=0)).health
    port = urlsplit(at.url).port
    with refused("port_in_use", match="--health-port"):
        await node(health_port=port)

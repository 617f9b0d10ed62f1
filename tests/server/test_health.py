"""Tests of the listener for orchestrators and Prometheus: /healthz, /readyz, /metrics, and malformed requests."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from samedeal_server.process import health
from tests.chaos.processes import RedisServer
from tests.golden.golden_files import assert_sentences
from tests.server.client import DEADLINE
from tests.server.expected_errors import refused
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.plain_http import ask
from tests.server.raw_client import Wire
from tests.server.waiting import until


@pytest.fixture
async def one(node: NodeMaker) -> Node:
    return await node(health_port=0)


@pytest.fixture
def at(one: Node) -> str:
    """The URL of the health listener."""
    return one.health_url


async def sent(at: str, request: bytes) -> bytes:
    """What the listener answers to some bytes before it closes the connection."""
    wire = await Wire.open(at)
    await wire.send(request)
    answer = await wire.eof()
    await wire.close()
    return answer


async def test_wording_of_health_checks(one: Node, at: str) -> None:
    answers = {path: await ask(at, path) for path in ("/healthz", "/readyz", "/")}
    answers["POST /readyz"] = await ask(at, "/readyz", "POST")
    one.stop.set()
    answers["/readyz of a stopping node"] = await ask(at, "/readyz")
    assert_sentences("health checks", [f"{case}\t{each.status} {each.text.strip()}" for case, each in answers.items()])
    assert {each.headers["cache-control"] for each in answers.values()} == {"no-store"}


async def test_incomplete_request_times_out(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "REQUEST_TIMEOUT", 0.1)
    at = (await node(health_port=0)).health_url
    assert b"200" not in await sent(at, b"GET /hea")

    async def is_alive() -> bool:  # on a busy machine, a request may take too long too
        return b" 200 " in (await sent(at, b"GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n")).partition(b"\r\n")[0]

    await until(is_alive)


async def test_node_without_redis_is_not_ready(node: NodeMaker, own_redis: RedisServer) -> None:
    at = (await node(redis=own_redis.url, health_port=0)).health_url
    assert (await ask(at, "/readyz")).status == 200
    await own_redis.kill()
    answer = await ask(at, "/readyz")
    assert (answer.status, "Redis" in answer.text) == (503, True)
    assert (await ask(at, "/healthz")).status == 200
    assert "samedeal_redis_up 0.0" in (await ask(at, "/metrics")).text
    await own_redis.start()
    async with asyncio.timeout(DEADLINE):
        while (await ask(at, "/readyz")).status != 200:
            pass


async def test_node_with_readonly_redis_is_not_ready(redis: RedisClient, at: str) -> None:
    try:
        await redis.config_set("maxmemory", 1)
        answer = await ask(at, "/readyz")
    finally:
        await redis.config_set("maxmemory", 0)
    assert (answer.status, "OOM" in answer.text or "memory" in answer.text) == (503, True)
    assert (await ask(at, "/readyz")).status == 200


async def test_port_in_use_is_refused(node: NodeMaker) -> None:
    at = (await node(health_port=0)).health_url
    port = urlsplit(at).port
    with refused("port_in_use", match="--health-port"):
        await node(health_port=port)

"""Tests of the listener for orchestrators and Prometheus: /healthz, /readyz, /metrics, and malformed requests."""

from __future__ import annotations

import asyncio
import gc
from urllib.parse import urlsplit

import pytest

from samedeal_server.errors import StoreUnavailable
from samedeal_server.process import health
from samedeal_server.process.health import NodeChecks
from tests.chaos.processes import RedisServer
from tests.golden.golden_files import assert_sentences
from tests.server.client import DEADLINE
from tests.server.expected_errors import refused
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.plain_http import ask
from tests.server.raw_client import Wire, handshake
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
    handshake(),
)


async def test_malformed_requests_are_rejected(at: str) -> None:
    for request in MALFORMED:
        assert b" 200 " not in (await sent(at, request)).partition(b"\r\n")[0], request[:50]
        assert (await ask(at, "/healthz")).status == 200


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


async def test_node_whose_redis_is_silent_is_not_ready(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    one = await node(health_port=0)
    monkeypatch.setattr(health, "PROBE_TIMEOUT", 0.01)
    monkeypatch.setattr(one.rooms.store, "probe", asyncio.Event().wait)
    answer = await ask(one.health_url, "/readyz")
    assert (answer.status, answer.text) == (503, "Redis has not answered for 0.01 seconds.\n")


async def test_probe_that_fails_after_its_timeout_leaves_no_stray_error(
    one: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """asyncio logs the error of a task that nobody has asked for it."""
    failing, stray = asyncio.Event(), list[str]()

    async def fail_late() -> str:
        await failing.wait()
        raise StoreUnavailable("late")

    monkeypatch.setattr(health, "PROBE_TIMEOUT", 0.01)
    monkeypatch.setattr(one.rooms.store, "probe", fail_late)
    asyncio.get_running_loop().set_exception_handler(lambda _, context: stray.append(context["message"]))
    checks = [NodeChecks(one.gateway, one.stop)]
    assert not (await checks[0].readiness()).ready
    failing.set()
    await until(lambda: checks[0]._probe is not None and checks[0]._probe.done())
    checks.clear()
    gc.collect()
    assert not stray

"""Tests of the health checks that a server collects from its workers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from samedeal_server.config.config import Config
from samedeal_server.process.health import Readiness, health_listener
from samedeal_server.process.worker_health import NO_ANSWER, WorkerChecks
from tests.server.local_server import local_server
from tests.server.plain_http import ask

READY = "ready"
SOME_ROOMS = f"{READY}, apart from the rooms of 10.0.0.7:6379"


@asynccontextmanager
async def worker(status: int, body: str) -> AsyncIterator[str]:
    """A worker that answers each request with the same status and body. Gives the URL of its health checks."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: text/plain\r\n\r\n{body}\n".encode())
        writer.close()

    async with local_server(answer) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def hanging() -> AsyncIterator[str]:
    """A worker that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as checks:
        yield f"http://127.0.0.1:{checks.getsockname()[1]}"


async def readiness(*answers: tuple[int, str], stopped: int = 0) -> Readiness:
    """The readiness of a server whose workers give these answers, while ``stopped`` others are not running."""
    async with worker(*answers[0]) as first, worker(*answers[-1]) as last:
        urls = {1: first, 2: last, **{3 + number: "" for number in range(stopped)}}
        return await WorkerChecks(lambda: urls, asyncio.Event()).readiness()


async def test_server_is_ready_if_a_worker_is_and_names_the_others() -> None:
    assert await readiness((200, READY), (200, READY)) == (True, READY)
    assert await readiness((200, READY), (200, SOME_ROOMS)) == (True, SOME_ROOMS)
    failing = await readiness((200, READY), (503, "no answer"))
    assert failing == (True, f"{READY} Worker 2: no answer")
    missing = await readiness((200, READY), stopped=1)
    assert (missing.ready, "3: " in missing.text) == (True, True)


async def test_server_without_a_ready_worker_is_not_ready() -> None:
    broken = await readiness((503, "no answer"), stopped=1)
    assert not broken.ready
    assert all(f"{number}: " in broken.text for number in (1, 2, 3))
    assert not (await WorkerChecks(dict, asyncio.Event()).readiness()).ready


async def test_stopping_server_is_not_ready() -> None:
    stop = asyncio.Event()
    stop.set()
    assert not (await WorkerChecks(dict, stop).readiness()).ready


async def test_server_with_a_worker_that_hangs_is_ready() -> None:
    """The answer comes before whoever asks gives up."""
    async with worker(200, READY) as first, hanging() as second:
        checks = WorkerChecks(lambda: {1: first, 2: second}, asyncio.Event())
        async with health_listener(Config(health_port=0), checks.readiness, checks.metrics) as url:
            answer = await ask(url, "/readyz")
    assert (answer.status, answer.text.strip()) == (200, f"{READY} Worker 2: {NO_ANSWER[1]}")

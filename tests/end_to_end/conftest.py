"""Fixtures for the end-to-end tests."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
import pytest_asyncio
from redis import Redis

from samedeal.race import draws
from samedeal_server.embedded_redis.server import EmbeddedRedis
from tests.end_to_end.browser import Browser, Engine, running_browser
from tests.end_to_end.live_server import serving
from tests.end_to_end.processes import Programs, programs_in
from tests.end_to_end.terminal import Terminal, terminal_in
from tests.server import live_nodes
from tests.server.live_nodes import Node
from tests.server.waiting import until
from tests.textual_internals import spare_work

spare_work()


@pytest.fixture(scope="package")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Engine], Browser]]:
    """Starts browsers, each of them once. Their tests are one group, so that only one worker starts them."""
    with ExitStack() as stack:
        yield cache(lambda engine: stack.enter_context(running_browser(tmp_path_factory.mktemp(engine), engine)))


@pytest.fixture
async def browser(browsers: Callable[[Engine], Browser], request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """A browser, which is Chromium unless a test says otherwise. It forgets what the page keeps.

    It must have nothing to complain about, apart from what a test has taken note of with ``errors``. A test asks for its
    server first, so that the page is left before the server stops.
    """
    browser = browsers(getattr(request, "param", "chromium"))
    browser.errors()
    yield browser
    errors = browser.errors()
    await browser.run("try { localStorage.clear() } catch {}")
    await browser.close_page()
    assert errors == []


@pytest.fixture
async def one(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    """A node in this process, where a race begins soon after its deal is found."""
    monkeypatch.setattr(draws, "EXTENSION", 100)
    async with live_nodes.serving(redis_url, "n1") as node:
        yield node


@pytest.fixture
async def programs(tmp_path: Path) -> AsyncIterator[Programs]:
    """Starts programs with a separate home directory."""
    async with programs_in(tmp_path) as started:
        yield started


@pytest.fixture
async def terminal(programs: Programs, tmp_path: Path) -> AsyncIterator[Terminal]:
    """A terminal. When it is closed at the end of the test, the clients in it must end."""
    environment = {**programs.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with terminal_in(tmp_path, environment) as opened:
        yield opened
    await until(lambda: not re.search("samedeal_(client|link)", " ".join(programs.left_running().values())))


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def redis_of_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a Redis for one server only, which would be a second node in other tests."""
    async with EmbeddedRedis(tmp_path_factory.mktemp("redis"), "everysec") as url:
        yield url


@pytest.fixture(scope="package")
def server_process(redis_of_server: str) -> Iterator[str]:
    """The address of a server that runs for all tests here."""
    with serving(redis_of_server) as address:
        yield address


@pytest.fixture
def server(server_process: str, redis_of_server: str) -> str:
    """The address of a server that has no rooms."""
    with Redis.from_url(redis_of_server) as redis:
        redis.flushall()
    return server_process

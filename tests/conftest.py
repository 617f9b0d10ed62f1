"""Fixtures for all tests: real Redis servers, separate homes, and hypothesis without a deadline."""

from __future__ import annotations

import gc
import os
import socket
from asyncio import Server
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none
from redis import Redis

from samedeal.games import GAMES
from samedeal_link.machine.terminal import terminal
from samedeal_link.machine.unsaved import Unsaved
from samedeal_server.embedded_redis.binary import BINARY_VARIABLE, find_redis_binary
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StartupError
from tests.chaos.processes import RedisServer
from tests.server.captured_log import logs_restored
from tests.shared.unreleased_games import UNRELEASED

_HOMES: Final = count(1)

# A machine that is busy with something else is slow, not wrong.
settings.register_profile("usual", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("usual")


_accept = BaseSelectorEventLoop._accept_connection2  # type: ignore[attr-defined]  # there is no public place for this


async def _accept_unless_closed(
    loop: Any, protocol: Callable[[], Any], connection: socket.socket, extra: Any, tls: Any, server: Server, *rest: Any
) -> None:
    """Accept a connection, and close it if its server has closed in the meantime.

    Neither asyncio nor the library for WebSockets does. Such a connection stayed open after the loop had closed, for
    which Python blamed a later test: a browser may connect in the very moment in which a server stops.
    """
    if server.is_serving():
        await _accept(loop, protocol, connection, extra, tls, server, *rest)
    if not server.is_serving():
        transport = loop._transports.get(connection.fileno())
        (connection.close if transport is None else transport.abort)()


BaseSelectorEventLoop._accept_connection2 = _accept_unless_closed  # type: ignore[attr-defined]  # as above


def pytest_configure() -> None:
    """Choose the Redis of all tests, workers and processes, so that another one may be installed meanwhile."""
    with suppress(StartupError):  # tests that need none pass all the same
        os.environ.setdefault(BINARY_VARIABLE, str(find_redis_binary().path))


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Let Python search for no reference cycles while modules are imported and tests are made, which stay anyway."""
    gc.disable()


def _run_nothing(_: None) -> None: ...


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Let Python search for reference cycles less often, and not among what is there before the first test.

    Screens make many cycles, and each search went through all modules and tests, which took a quarter of the time.
    Hypothesis makes its source of random numbers when it runs first, and since Python 3.14 warns if its owner is frozen.
    """
    given(none())(_run_nothing)()
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 20)
    gc.enable()


@pytest.fixture(autouse=True)
def _no_files_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own history, settings and records, apart from those of the person who runs the tests.

    The client makes the folders when it writes. Most tests write nothing, and making folders for all of them takes long.
    This is for all folders, since pytest forgets the fixtures of a folder that it comes back to.
    """
    home = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setattr(terminal(), "unsaved", Unsaved())


@pytest.fixture(autouse=True)
def _logs_restored() -> Iterator[None]:
    """Undo what a test or its nodes have set up for logs, which later tests would go on with."""
    with logs_restored():
        yield


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a Redis that lives as long as this process's tests."""
    async with EmbeddedRedis(tmp_path_factory.mktemp("redis"), "everysec") as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of an empty Redis."""
    with Redis.from_url(redis_server) as redis:
        redis.flushall()
    return redis_server


@pytest.fixture
async def own_redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    """A Redis of the test's own, which it may kill and start again."""
    async with RedisServer(tmp_path) as redis:
        yield redis


@pytest.fixture(scope="module")
def unreleased() -> Iterator[None]:
    """Let there be the games of ``UNRELEASED`` too."""
    with pytest.MonkeyPatch.context() as patch:
        for name, game in UNRELEASED.items():
            patch.setitem(GAMES, name, game)
        yield

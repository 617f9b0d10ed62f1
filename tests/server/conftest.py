"""Fixtures of the server tests: nodes, their Redis, and their health listeners."""

from __future__ import annotations

import gc
import importlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from samedeal_server.config.limits import Limits
from samedeal_server.embedded_redis import binary
from tests.server.captured_log import Log, logs_restored
from tests.server.live_nodes import PLENTY, Node, NodeMaker, RedisClient, serving


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[RedisClient]:
    """A plain client of the test's Redis."""
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
async def node(redis_url: str) -> AsyncIterator[NodeMaker]:
    """Return a function that starts a node, by default on the Redis of the test."""
    numbers = count(1)
    async with AsyncExitStack() as stack:

        async def start(limits: Limits = PLENTY, redis: str = redis_url, **settings: Any) -> Node:
            return await stack.enter_async_context(serving(redis, f"n{next(numbers)}", limits, **settings))

        yield start


@pytest.fixture
async def one(node: NodeMaker) -> Node:
    """A node."""
    return await node()


@pytest.fixture
async def two(node: NodeMaker) -> Node:
    """Another node on the same Redis."""
    return await node()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory in which a redis-server is searched, apart from the directory ``beside`` of the test."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.delenv(binary.BINARY_VARIABLE, raising=False)
    monkeypatch.setattr(binary, "sys", SimpleNamespace(executable=str(tmp_path / "beside" / "python")))
    monkeypatch.setattr(binary, "find_spec", lambda _name: None)
    return directory


@pytest.fixture
async def half_made_connections() -> AsyncIterator[None]:
    """Free the connections that were cancelled while they connected. Nothing else closes them if servers are killed.

    This happens before the event loop is closed, because they close themselves through it.
    """
    yield
    gc.collect()


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Iterator[Log]:
    """Return the log of the test, and restore the configuration of logging afterwards."""
    with logs_restored():
        yield Log(capsys)


@pytest.fixture
def check_client(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program of the kit for writers of clients."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "shared" / "conformance"))
    return importlib.import_module("check_client")

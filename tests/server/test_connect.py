"""The connection to Redis, when the network between drops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.store.connect import connect
from tests.chaos.proxy import Proxy

uvloop = pytest.importorskip("uvloop")


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_connection_that_was_reset_while_nothing_was_asked_is_replaced(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path
) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(ask_and_reset(tmp_path))


async def ask_and_reset(data: Path) -> None:
    async with EmbeddedRedis(data, "everysec") as url:
        path = unquote(urlsplit(url).path)
        async with Proxy(lambda: [path]) as proxy, connect(f"redis://127.0.0.1:{proxy.port}/0") as redis:
            for number in range(3):
                assert await redis.incr("asked") == number + 1
                (connection,) = redis.connection_pool._available_connections
                for wire in proxy.wires:
                    wire.reset()
                await asyncio.wait_for(noticed(connection), 5)


async def noticed(connection: Any) -> None:
    while not connection._writer.transport.is_closing():  # noqa: ASYNC110  # the transport sets no event
        await asyncio.sleep(0)

"""Tests of the connections to Redis: lost, silent, shared with announcements, and over TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import trustme

from samedeal.protocol.messages import ProgressUpdate
from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StoreUnavailable
from samedeal_server.process.app import run
from samedeal_server.store.connect import connect
from samedeal_server.store.redis_client import PrimaryClient
from samedeal_server.store.store import Store
from tests.chaos.proxy import Proxy
from tests.server.expected_errors import refused
from tests.server.live_nodes import NodeMaker
from tests.server.races import race
from tests.server.redis_kinds import Server, behind_tls
from tests.server.waiting import until

ANSWER_TIMEOUT = 2
"""Timeout, in seconds, that the tests set for an answer. It is much longer than Redis takes on a busy machine."""

LOOP_TURNS = 20
"""Turns of the event loop in which a transport reads that its connection was reset."""

uvloop = pytest.importorskip("uvloop")


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_idle_connection_that_was_reset_is_replaced(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path
) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(reset_idle_connections(tmp_path))


async def reset_idle_connections(data: Path) -> None:
    async with EmbeddedRedis(data, "everysec") as url:
        path = unquote(urlsplit(url).path)
        async with Proxy(lambda: [path]) as proxy, connect(f"redis://127.0.0.1:{proxy.port}/0") as redis:
            assert isinstance(redis, PrimaryClient)
            for number in range(3):
                assert await redis.incr("counter") == number + 1
                (connection,) = proxy.connections
                connection.reset()
                await until(lambda: not proxy.connections)
                for _ in range(LOOP_TURNS):
                    await asyncio.sleep(0)


async def test_redis_lost_during_start_is_a_startup_error(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def raise_unavailable(_: Store) -> None:
        raise StoreUnavailable("Connection reset by peer")

    monkeypatch.setattr(Store, "now", raise_unavailable)
    with refused("redis_unreachable"):
        await asyncio.wait_for(run(Config(port=0, redis=redis_url), "n1", print), 10)


async def test_redis_certificate_is_verified(tmp_path: Path, node: NodeMaker) -> None:
    authority, other = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    other.cert_pem.write_to_path(str(tmp_path / "other.pem"))
    async with Server(tmp_path / "redis") as redis, behind_tls(redis, authority.issue_cert("localhost")) as port:
        one = await node(redis=f"rediss://localhost:{port}/0?ssl_ca_certs={tmp_path}/ca.pem")
        ana, bob = await race(one, games=("athena",))
        await ana.act("draw")
        await bob.until(ProgressUpdate, lambda progress: progress.moves == 1)
        for url in (f"rediss://localhost:{port}/0?ssl_ca_certs={tmp_path}/other.pem", f"redis://localhost:{port}/0"):
            with refused("redis_unreachable"):
                await node(redis=url)

"""The connection to Redis, when the network between drops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import trustme
from redis.exceptions import ConnectionError as LostConnection

from samedeal.protocol.messages import Progress
from samedeal_server import rooms
from samedeal_server.app import run
from samedeal_server.config import Config
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.store import connect as connecting
from samedeal_server.store.connect import connect
from samedeal_server.store.database import OneRedis
from samedeal_server.store.redis import Store
from tests.chaos.proxy import Proxy
from tests.server.conftest import NodeMaker
from tests.server.redis_kinds import Server, behind_tls
from tests.server.test_rooms import race

SILENCE = 0.2

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
            assert isinstance(redis, OneRedis)
            for number in range(3):
                assert await redis.incr("asked") == number + 1
                (connection,) = redis.connection_pool._available_connections
                for wire in proxy.wires:
                    wire.reset()
                await asyncio.wait_for(noticed(connection), 5)


async def test_a_node_that_redis_has_fallen_silent_for_listens_anew(
    node: NodeMaker, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that drops everything without a word: only a sign that does not come tells."""
    monkeypatch.setattr(rooms, "SILENCE", SILENCE)
    monkeypatch.setattr(connecting, "_ANSWER_TIMEOUT", SILENCE)
    path = unquote(urlsplit(redis_url).path)
    async with Proxy(lambda: [path]) as proxy:
        far, near = await node(redis=f"redis://127.0.0.1:{proxy.port}/0"), await node()
        ana, bob = await race(far, near, games=("athena",))
        for wire in proxy.wires:
            wire.stall(60)
        await bob.act("draw")
        await ana.until(Progress, lambda progress: any(tally.moves == 1 for tally in progress.tallies))


async def test_what_is_announced_never_comes_over_a_connection_for_commands(redis_url: str) -> None:
    """An announcement, or the answer to a subscription, would be taken for that of a command."""
    async with connect(redis_url) as redis:
        assert isinstance(redis, OneRedis)
        store = Store(redis)
        async with store.announcements() as pubsub:
            await pubsub.subscribe("friday")
            commands = await redis.client_list(_type="normal")
            subscribers = await redis.client_list(_type="pubsub")
            assert len(subscribers) == 1
            assert len(redis.connection_pool._available_connections) == len(commands) == 1
            assert not redis.connection_pool._in_use_connections
        async with asyncio.timeout(5):
            while await redis.client_list(_type="pubsub"):
                pass


async def test_a_redis_that_goes_while_a_node_starts_is_a_reason_and_no_traceback(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(_: Store) -> None:
        raise LostConnection("Connection reset by peer")

    monkeypatch.setattr(Store, "now", gone)
    with pytest.raises(StartupError, match="does not any more") as failed:
        await asyncio.wait_for(run(Config(port=0, redis=redis_url), "n1", print), 10)
    assert failed.value.code == "redis_unreachable"


async def noticed(connection: Any) -> None:
    while not connection._writer.transport.is_closing():  # noqa: ASYNC110  # the transport sets no event
        await asyncio.sleep(0)


async def test_over_tls_a_redis_is_believed_only_with_a_certificate_of_its_authority(
    tmp_path: Path, node: NodeMaker
) -> None:
    authority, other = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    other.cert_pem.write_to_path(str(tmp_path / "other.pem"))
    async with (
        Server(tmp_path / "redis") as redis,
        behind_tls(redis, authority.issue_cert("localhost")) as port,
    ):
        one = await node(redis=f"rediss://localhost:{port}/0?ssl_ca_certs={tmp_path}/ca.pem")
        ana, bob = await race(one, games=("athena",))
        await ana.act("draw")
        await bob.until(Progress, lambda progress: any(tally.moves == 1 for tally in progress.tallies))
        with pytest.raises(StartupError, match="certificate verify failed") as refused:
            await node(redis=f"rediss://localhost:{port}/0?ssl_ca_certs={tmp_path}/other.pem")
        assert refused.value.code == "redis_unreachable"
        with pytest.raises(StartupError) as refused:
            await node(redis=f"redis://localhost:{port}/0")
        assert refused.value.code == "redis_unreachable"

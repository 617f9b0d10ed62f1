"""A server process as its operator sees it: logs, reloads, draining, TLS, proxies."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from redis import Redis
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from samedeal.protocol.messages import Act, Done, Join, ListRooms, ProgressUpdate, Rooms, Start
from samedeal.protocol_codes import CloseCode
from samedeal_server.store.connect import connect as connect_redis
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.chaos.processes import RedisServer
from tests.end_to_end.processes import Program, Programs
from tests.server.client import Client
from tests.server.plain_http import ask
from tests.server.races import seated

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the servers are controlled by signals")


Starter = Callable[..., Awaitable[Program]]


@pytest.fixture
async def operated(programs: Programs, redis_url: str) -> Starter:
    """Return a function that starts a server on the test's Redis with more options."""

    async def start(*options: str) -> Program:
        return await programs.start("-m", "samedeal_server", "--redis", redis_url, "--port", "0", *options)

    return start


async def test_reload_applies_limits_and_the_log_level(operated: Starter, tmp_path: Path) -> None:
    file = tmp_path / "samedeal.toml"
    file.write_text("drain-delay = 0\n[limits]\nconnections = 1\n")
    server = await operated("--config", str(file))
    address = (await server.logs("listening"))["address"]
    first = await Client.hello(address)
    with pytest.raises(InvalidStatus, match="503"):
        await connect(address)
    file.write_text('drain-delay = 5\nlog-level = "debug"\n[limits]\nconnections = 2\n')
    server.signal(signal.SIGHUP)
    assert (await server.logs("reload_needs_restart", level="warning"))["settings"] == ["drain_delay"]
    assert (await server.logs("reloaded"))["settings"] == ["log_level", "limits.connections"]
    await Client.hello(address)
    assert isinstance(await first.ask(ListRooms), Rooms)
    for text in ("[limits]\nconections = 9", "[limits", None):
        file.unlink() if text is None else file.write_text(text)
        server.signal(signal.SIGHUP)
        await server.logs("reload_failed", level="error")
    with pytest.raises(InvalidStatus, match="503"):
        await connect(address)


async def test_a_node_announces_that_it_stops(operated: Starter) -> None:
    server = await operated("--health-port", "0", "--drain-delay", "600")
    listening = await server.logs("listening")
    assert (await ask(listening["health"], "/readyz")).status == 200
    ana, bob = await seated(listening["address"], games=("athena",))
    server.signal(signal.SIGTERM)
    await server.logs("stopping", drain_delay=600)
    assert (await ask(listening["health"], "/readyz")).status == 503
    assert (await ask(listening["health"], "/healthz")).status == 200
    await Client.hello(listening["address"], "eve")  # a load balancer may still send clients to this node
    await ana.expect(Done, Start)
    for client in (ana, bob):
        await client.dealt()
    await ana.act("draw")
    await bob.until(ProgressUpdate, lambda progress: progress.moves == 1)
    server.signal(signal.SIGTERM)
    await server.logs("draining", connections=3)
    await server.logs("stopped")
    assert await server.exit_code() == 0


async def test_a_server_on_a_terminal_prints_how_to_join(programs: Programs, redis_url: str) -> None:
    server = await programs.on_terminal("serve", "--redis", redis_url, "--port", "0", "--health-port", "0")
    address = (await server.expect(r"join +samedeal join (ws://127\.0\.0\.1:\d+)\n"))[1]
    await server.expect(f"open a room +samedeal new {address}\n")
    await server.expect(r"data +in Redis at ")
    await server.expect(r"health +http://127\.0\.0\.1:\d+/readyz")
    ana = await Client.hello(address)
    server.signal(signal.SIGHUP)
    await server.expect("reloaded")
    assert isinstance(await ana.ask(ListRooms), Rooms)
    assert server.terminal is not None
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, server.terminal)
    os.close(nothing)
    server.signal(signal.SIGHUP)  # printing fails now, because the terminal is closed
    assert await ana.closed() == CloseCode.RESTART
    assert await server.exit_code() == 0


async def test_server_output_contains_no_secret(programs: Programs, own_redis: RedisServer) -> None:
    """This holds for both streams of the process, at the lowest log level, and even when Redis fails."""
    with Redis.from_url(own_redis.url) as redis:
        redis.config_set("requirepass", "sesam-redis")
    url = f"{own_redis.url}?password=sesam-redis"
    options = ("--redis", url, "--port", "0", "--log-level", "debug", "--admin-token", "sesam-operator-0123456789")
    server = await programs.start("-m", "samedeal_server", *options)
    address = (await server.logs("listening"))["address"]
    ana, eve = await Client.hello(address, "ana"), await Client.hello(address, "eve")
    room = await ana.create(passphrase="sesam-room", games=("athena",))
    await ana.join(room, passphrase="sesam-room")
    await eve.refused("bad_passphrase", Join, room=room, passphrase="sesam-wrong")
    await ana.expect(Done, Start)
    await ana.dealt()
    await ana.acts(5)
    async with connect_redis(url) as store:
        secret = await Store(store, Metrics()).load_secret(room)
    assert secret is not None
    await own_redis.kill()
    await ana.refused("unavailable", Act, revision=5, action="draw")
    await eve.refused("unavailable", Join, room=room, passphrase="sesam-room")
    server.signal(signal.SIGHUP)
    await server.logs("reloaded")
    server.signal(signal.SIGTERM)
    assert await server.exit_code() == 0
    text = server.text
    assert '"redis_down"' in text
    for secret_text in (ana.session, eve.session, "sesam", secret.deal.seed.hex(), secret.hash.hex(), "Traceback"):
        assert secret_text not in text

"""The server as a process: start-up errors, draining, and what a killed server loses."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from samedeal.protocol.messages import Acked, Act, Done, Notice, Resign, Start
from samedeal.protocol_codes import CloseCode
from tests.server.client import DEADLINE, Client

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the servers are stopped by signals")


@dataclass
class Server:
    """A server process. ``url`` is its address once it listens."""

    process: asyncio.subprocess.Process
    url: str = ""
    errors: list[str] = field(default_factory=list)

    async def ended(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        async with asyncio.timeout(DEADLINE):
            return await self.process.wait()

    async def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        await self.ended()

    async def terminate(self) -> int:
        """Stop the server with SIGTERM, and return its exit code."""
        self.process.terminate()
        return await self.ended()

    async def stderr(self) -> str:
        """Return the standard error of the ended process."""
        assert self.process.stderr is not None
        return (await self.process.stderr.read()).decode()


Starter = Callable[..., Awaitable[Server]]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Starter]:
    """Return a function that starts a server with options, and waits until it listens unless ``fails`` is true."""
    async with AsyncExitStack() as stack:

        async def start(*options: str, fails: bool = False) -> Server:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "samedeal_server", "--announce", "--port", "0", "--log-style", "json"),
                *("--data", str(tmp_path / "data"), *options),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "SAMEDEAL_DEBUG": ""},
            )
            started = Server(process)
            stack.push_async_callback(reap, started)
            if not fails:
                assert process.stdout is not None
                async with asyncio.timeout(3 * DEADLINE):
                    line = (await process.stdout.readline()).decode()
                assert line.startswith("listening on ws://"), line or await started.stderr()
                started.url = line.removeprefix("listening on ").strip()
            return started

        yield start


async def reap(started: Server) -> None:
    """Stop a server that still runs."""
    if started.process.returncode is None:
        started.process.terminate()
        await started.ended()
    # Read what is left in the pipes, so that they close with the process.
    for stream in (started.process.stdout, started.process.stderr):
        assert stream is not None
        await stream.read()


async def race(*urls: str, **options: Any) -> list[Client]:
    """Start a race of Athena with a client at each address."""
    clients = [await Client.hello(url, f"p{number}") for number, url in enumerate(urls)]
    room = await clients[0].create(**{"games": ("athena",), **options})
    for client in clients:
        await client.join(room)
    await clients[0].expect(Done, Start)
    for client in clients:
        await client.dealt()
    return clients


async def resume(client: Client, url: str) -> Client:
    """Resume a player's seat through another server."""
    again = await Client.hello(url, client.session[:3], client.session)
    again.play, again.undo = client.play, client.undo
    assert client.play
    await again.join(client.room, revision=client.play.revision)
    return again


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--redis", "redis://127.0.0.1:1"], "redis_unreachable"),
        (["--redis", "redis://127.0.0.1:no"], "bad_redis_url"),
    ],
)
async def test_startup_errors_are_sentences(server: Starter, options: list[str], code: str) -> None:
    failed = await server(*options, fails=True)
    assert await failed.ended() == 1
    *logged, last = (await failed.stderr()).strip().splitlines()
    assert last.startswith(f"samedeal-server: {code}: ")
    assert "Traceback" not in last
    assert [(event["level"], event["code"]) for event in map(json.loads, logged) if event["event"] == "failed"] == [
        ("error", code)
    ]


async def test_a_port_in_use_is_reported(server: Starter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed = await server("--port", str(port), fails=True)
        assert await failed.ended() == 1
        printed = await failed.stderr()
    assert "port_in_use: " in printed
    assert str(port) in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("options", [["--port", "70000"], ["--chess"]])
async def test_bad_usage_is_exit_code_2(server: Starter, options: list[str]) -> None:
    failed = await server(*options, fails=True)
    assert await failed.ended() == 2
    assert "usage: samedeal-server" in await failed.stderr()


@pytest.mark.parametrize("signal_", ["SIGTERM", "SIGINT"])
async def test_state_survives_a_drain_and_restart(server: Starter, signal_: str) -> None:
    first = await server()
    (ana,) = await race(first.url)
    await ana.acts(5)
    first.process.send_signal(getattr(signal, signal_))
    assert (await ana.until(Notice)).code == "draining"
    assert await ana.closed() == CloseCode.RESTART
    assert await first.ended() == 0
    assert "Traceback" not in await first.stderr()
    second = await server()
    again = await resume(ana, second.url)
    await again.acts(5)
    assert await second.terminate() == 0


async def test_a_killed_node_loses_no_move(server: Starter, redis_url: str) -> None:
    """Invariant: any node, any room. When a node dies, its players reconnect once and lose no acked move."""
    one, two = await server("--redis", redis_url), await server("--redis", redis_url)
    ana, bob = await race(one.url, two.url)
    acked = await ana.acts(20)
    await bob.acts(5)
    assert ana.play
    await ana.send(Act, id=900, revision=20, action="draw")  # the move counts once, whether or not it is acked
    await one.kill()
    again = await resume(ana, two.url)
    last = await again.expect(Acked, Act, id=900, revision=20, action="draw")
    assert last.time >= acked[-1].time
    if again.play and again.play.revision == 20:
        again.apply("draw", last)
    await again.acts(5)
    for client in (again, bob):
        await client.expect(Done, Resign)
    ended = await bob.phase("finished")
    assert {(line.name, line.moves) for line in ended.standings} == {("p0", 26), ("p1", 5)}


async def test_a_killed_embedded_redis_loses_no_acked_move(server: Starter) -> None:
    """Invariant: acknowledged moves are as durable as the settings say. With ``always``, an acked move is on disk."""
    first = await server("--durability", "always")
    (ana,) = await race(first.url)
    await ana.acts(30)
    await first.kill()
    second = await server("--durability", "always")
    again = await resume(ana, second.url)
    assert again.play
    assert again.play.revision == 30
    await again.acts(5)
    await again.expect(Done, Resign)
    ended = await again.phase("finished")
    assert ended.standings[0].moves == 35

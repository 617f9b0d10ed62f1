"""The server as a process: how it starts, why it doesn't, how it stops, and what its death costs."""

from __future__ import annotations

import asyncio
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

from samedeal.protocol.messages import Acked, Act, Close, Done, Notice, Resign, Start
from tests.server.client import DEADLINE, Client

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals are how these servers are ended")


@dataclass
class Server:
    """A server's process, and where it listens once it does."""

    process: asyncio.subprocess.Process
    url: str = ""
    errors: list[str] = field(default_factory=list)

    async def ended(self) -> int:
        """Wait until it has ended; returns its exit code."""
        async with asyncio.timeout(DEADLINE):
            return await self.process.wait()

    async def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        await self.ended()

    async def terminate(self) -> int:
        """Tell it to stop, as an operator does."""
        self.process.terminate()
        return await self.ended()

    async def said(self) -> str:
        """All that it wrote about itself, once it has ended."""
        assert self.process.stderr is not None
        return (await self.process.stderr.read()).decode()


Starter = Callable[..., Awaitable[Server]]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Starter]:
    """Starts servers, with command line options; each listens before it is handed out unless it is to fail."""
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
                assert line.startswith("listening on ws://"), line or await started.said()
                started.url = line.removeprefix("listening on ").strip()
            return started

        yield start


async def reap(started: Server) -> None:
    if started.process.returncode is None:
        started.process.terminate()
        await started.ended()
    # What is left in the pipes is read, so that they close with the process.
    for stream in (started.process.stdout, started.process.stderr):
        assert stream is not None
        await stream.read()


async def race(*urls: str, **options: Any) -> list[Client]:
    """A race of Athena, with a client through each address."""
    clients = [await Client.hello(url, f"p{number}") for number, url in enumerate(urls)]
    room = await clients[0].create(**{"games": ("athena",), **options})
    for client in clients:
        await client.join(room)
    await clients[0].want(Done, Start)
    for client in clients:
        await client.dealt()
    return clients


async def resumed(client: Client, url: str) -> Client:
    """The same player through another server."""
    again = await Client.hello(url, client.session[:3], client.session)
    again.play, again.undo = client.play, client.undo
    assert client.play
    await again.join(client.room, revision=client.play.revision)
    return again


# ---------------------------------------------------------------- it can't start


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--redis", "unix:///nowhere/r.sock"], "redis_unreachable", "No Redis answers"),
        (["--redis", "redis://127.0.0.1:1"], "redis_unreachable", "No Redis answers"),
        (["--redis", "http://127.0.0.1"], "bad_redis_url", "redis://HOST"),
        (["--redis", "redis://127.0.0.1:no"], "bad_redis_url", "a port in it"),
        (["--host", "203.0.113.1"], "cannot_listen", "203.0.113.1"),
    ],
)
async def test_why_it_cannot_start_is_said_in_a_sentence(
    server: Starter, options: list[str], code: str, words: str
) -> None:
    failed = await server(*options, fails=True)
    assert await failed.ended() == 1
    last = (await failed.said()).strip().splitlines()[-1]
    assert last.startswith(f"samedeal-server: {code}: ")
    assert words in last
    assert "Traceback" not in last


async def test_a_port_in_use_is_said(server: Starter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed = await server("--port", str(port), fails=True)
        assert await failed.ended() == 1
        said = await failed.said()
    assert f"port_in_use: Port {port} is in use" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("options", [["--port", "70000"], ["--port", "x"], ["--durability", "never"], ["--chess"]])
async def test_bad_usage_is_exit_code_2(server: Starter, options: list[str]) -> None:
    failed = await server(*options, fails=True)
    assert await failed.ended() == 2
    assert "usage: samedeal-server" in await failed.said()


# ---------------------------------------------------------------- it stops


@pytest.mark.parametrize("signal_", ["SIGTERM", "SIGINT"])
async def test_it_drains_on_a_signal_and_what_it_held_is_there_at_the_next_start(server: Starter, signal_: str) -> None:
    first = await server()
    (ana,) = await race(first.url)
    await ana.acts(5)
    first.process.send_signal(getattr(signal, signal_))
    assert (await ana.until(Notice)).code == "draining"
    assert await ana.closed() == Close.RESTART
    assert await first.ended() == 0
    assert "Traceback" not in await first.said()
    second = await server()
    again = await resumed(ana, second.url)
    await again.acts(5)
    assert await second.terminate() == 0


# ---------------------------------------------------------------- it dies


async def test_a_node_that_is_killed_costs_its_players_a_reconnection_and_no_move(
    server: Starter, redis_url: str
) -> None:
    """Invariant 4: a node's death costs its players one reconnection and no acked move."""
    one, two = await server("--redis", redis_url), await server("--redis", redis_url)
    ana, bob = await race(one.url, two.url)
    acked = await ana.acts(20)
    await bob.acts(5)
    assert ana.play
    await ana.send(Act, id=900, revision=20, action="draw")  # acked or not, it will count once
    await one.kill()
    again = await resumed(ana, two.url)
    last = await again.want(Acked, Act, id=900, revision=20, action="draw")
    assert (last.revision, last.moves, last.up) == (21, 21, acked[-1].up)
    if again.play and again.play.revision == 20:
        again.apply("draw", last)
    await again.acts(5)
    for client in (again, bob):
        await client.want(Done, Resign)
    ended = await bob.phase("finished")
    assert {(line.name, line.moves) for line in ended.standings} == {("p0", 26), ("p1", 5)}


async def test_a_server_that_is_killed_with_its_redis_has_lost_no_acked_move(server: Starter) -> None:
    """Invariant 2: acked is durable; with durability always, on disk."""
    first = await server("--durability", "always")
    (ana,) = await race(first.url)
    await ana.acts(30)
    await first.kill()
    second = await server("--durability", "always")
    again = await resumed(ana, second.url)
    assert again.play
    assert again.play.revision == 30
    await again.acts(5)
    await again.want(Done, Resign)
    ended = await again.phase("finished")
    assert ended.standings[0].moves == 35

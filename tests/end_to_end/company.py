"""A real server, and others who are at it, of whom only the client matters."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator

from redis import Redis

from samedeal.protocol.messages import RoomState
from samedeal_client.net.address import parse_address
from samedeal_client.net.client import Client
from samedeal_client.net.link import Link
from samedeal_client.net.sessions import BriefSessions

DEADLINE = 15.0


@contextlib.contextmanager
def serving(redis: str) -> Iterator[str]:
    """The address of a server on a Redis, which is emptied: what other tests have left may keep it from starting."""
    with Redis.from_url(redis) as store:
        store.flushall()
    command = [sys.executable, "-m", "samedeal_server", "--announce", "--port", "0", "--redis", redis]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        said = server.stdout.readline()
        if not said.startswith("listening on "):
            server.kill()
            server.wait()
            log.seek(0)
            raise AssertionError(f"the server did not start: {said}{log.read()}")
        yield said.removeprefix("listening on ").strip()
        server.terminate()


@contextlib.asynccontextmanager
async def friend(server: str, name: str = "mira") -> AsyncIterator[Client]:
    """Somebody who is connected."""
    async with Link(parse_address(server), name, BriefSessions()) as link:
        client = Client(link)
        running = asyncio.create_task(client.run())
        try:
            yield client
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def knows(client: Client, holds: Callable[[RoomState], object]) -> None:
    """Wait until a client's room is as it should be."""
    changed = asyncio.Event()
    leave = client.subscribe(changed.set)
    async with asyncio.timeout(DEADLINE):
        while client.model.room is None or not holds(client.model.room):
            changed.clear()
            await changed.wait()
    leave()


async def racing(client: Client) -> None:
    """Wait until the race has begun."""
    await knows(client, lambda room: room.phase == "racing")

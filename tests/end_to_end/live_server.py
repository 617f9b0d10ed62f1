"""A server process, and other players who are connected to it without a screen."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator

from redis import Redis

from samedeal.protocol.messages import RoomState
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.client_session import ClientSession
from tests.end_to_end.processes import DEADLINE

_SERVER = """
from samedeal_server import cli
from samedeal_server.rooms import cached_value

cached_value.LIST_LIFETIME = 0.0
from samedeal_server.rooms import room_list

room_list.FILTERED_LIFETIME = 0.0
raise SystemExit(cli.main())
"""
"""Runs samedeal_server. Its lists of rooms are never old, because tests empty the Redis under the running server."""


@contextlib.contextmanager
def serving(redis: str) -> Iterator[str]:
    """Run a server on a Redis and yield its address. The Redis is emptied first, because leftovers may prevent the start."""
    with Redis.from_url(redis) as store:
        store.flushall()
    command = [sys.executable, "-c", _SERVER, "--announce", "--port", "0", "--redis", redis]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line.startswith("listening on "):
            server.kill()
            server.wait()
            log.seek(0)
            raise AssertionError(f"the server did not start: {line}{log.read()}")
        yield line.removeprefix("listening on ").strip()
        server.terminate()


@contextlib.asynccontextmanager
async def friend(server: str, name: str = "mira") -> AsyncIterator[ClientSession]:
    """Connect another player."""
    async with Link(parse_address(server), name, MemorySessions()) as link:
        client = ClientSession(link)
        running = asyncio.create_task(client.run())
        try:
            yield client
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def until_room(client: ClientSession, holds: Callable[[RoomState], object]) -> None:
    """Wait until a client's room meets a condition."""
    changed = asyncio.Event()
    unsubscribe = client.subscribe(changed.set)
    async with asyncio.timeout(DEADLINE):
        while client.model.room is None or not holds(client.model.room):
            changed.clear()
            await changed.wait()
    unsubscribe()


async def until_racing(client: ClientSession) -> None:
    """Wait until the race has started."""
    await until_room(client, lambda room: room.phase == "racing")

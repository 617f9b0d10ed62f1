"""An echo server on ``websockets`` and uvloop: the least that a server on the same libraries can spend on a message.

    python -m tests.bench.echo_server [REDIS_URL]

With the address of a Redis, each message is stored there before it is sent back. No durable move can cost less.
The server prints its port and runs until it is killed.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import cast

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol.codec import LARGEST_FRAME
from samedeal.protocol.messages import SUBPROTOCOL
from samedeal_server.store.connect import connect
from samedeal_server.store.group_commit import Commit, CommitResult, GroupCommit
from samedeal_server.store.redis_client import command
from samedeal_server.store.redis_cluster import RedisClient

_STORED = CommitResult("ok")


async def echo(socket: ServerConnection) -> None:
    """Send every message back."""
    with suppress(ConnectionClosed):
        async for message in socket:
            await socket.send(message)


async def store_and_echo(commits: GroupCommit, socket: ServerConnection) -> None:
    """Store every message, then send it back."""
    with suppress(ConnectionClosed):
        async for message in socket:
            await commits.commit(cast("Commit", message))
            await socket.send(message)


async def store(redis: RedisClient, messages: list[Commit]) -> list[CommitResult | Exception]:
    """Append messages to a stream."""
    commands = [command("XADD", "echo", "MAXLEN", "~", 1000, "*", "m", cast("bytes", message)) for message in messages]
    answers = await redis.try_execute(commands)
    return [answer if isinstance(answer, Exception) else _STORED for answer in answers]


async def main(redis_url: str = "") -> None:
    """Serve until the process is killed."""
    async with AsyncExitStack() as stack:
        handler: Callable[[ServerConnection], Awaitable[None]] = echo
        if redis_url:
            redis: RedisClient = await stack.enter_async_context(connect(redis_url))
            handler = partial(store_and_echo, GroupCommit(partial(store, redis)))
        options = {"subprotocols": [Subprotocol(SUBPROTOCOL)], "compression": None, "max_size": LARGEST_FRAME}
        listening = serve(handler, "127.0.0.1", 0, max_queue=16, ping_interval=20, **options)  # type: ignore[arg-type]
        server = await stack.enter_async_context(listening)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.wait_closed()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))

"""Servers of a test that speak other protocols than ours."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[object]]


@asynccontextmanager
async def local_server(serve: Serve, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve connections on a free port, which is yielded. At the end, abort those that are left.

    Python blames a later test for connections that are open when their loop closes. Since Python 3.12, servers wait for
    all connections before they have closed.
    """
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await serve(reader, writer)

    async with await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context) as server:
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            for writer in writers:
                writer.transport.abort()

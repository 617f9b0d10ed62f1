"""Listening on a port, or saying why not."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from websockets.asyncio.server import Server

from samedeal_server.errors import StartupError


@asynccontextmanager
async def listening(server: Awaitable[Server], host: str, port: int, flag: str) -> AsyncIterator[int]:
    """Have a server listen; gives its port, which is another than 0. ``flag`` is where the port can be chosen.

    Raises StartupError ``port_in_use`` or ``cannot_listen``.
    """
    try:
        started = await server
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartupError(
                "port_in_use", f"Port {port} is in use: stop what uses it, or choose another with {flag}"
            ) from None
        raise StartupError("cannot_listen", f"Can't listen on {host} port {port}: {error.strerror}") from None
    try:
        yield int(started.sockets[0].getsockname()[1])
    finally:
        started.close()
        await started.wait_closed()


def written(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host

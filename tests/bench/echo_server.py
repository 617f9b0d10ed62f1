"""An echo server on ``websockets`` and uvloop: the least that a server on the same libraries can spend on a message.

    python -m tests.bench.echo_server

The server prints its port and runs until it is killed.
"""

from __future__ import annotations

from contextlib import suppress

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol.codec import LARGEST_FRAME
from samedeal.protocol.messages import SUBPROTOCOL


async def echo(socket: ServerConnection) -> None:
    """Send every message back."""
    with suppress(ConnectionClosed):
        async for message in socket:
            await socket.send(message)


async def main() -> None:
    """Serve until the process is killed."""
    options = {"subprotocols": [Subprotocol(SUBPROTOCOL)], "compression": None, "max_size": LARGEST_FRAME}
    async with serve(echo, "127.0.0.1", 0, max_queue=16, ping_interval=20, **options) as server:  # type: ignore[arg-type]
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await server.wait_closed()


if __name__ == "__main__":
    uvloop.run(main())

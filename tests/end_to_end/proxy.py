"""A proxy in front of one server, which tests can stall, cut and restore."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from tests.chaos import proxy

_FOR_GOOD = 3_600.0


class Proxy(proxy.Proxy):
    """Forwards bytes between clients and a server, given by its URL."""

    def __init__(self, server: str) -> None:
        address = urlsplit(server)
        super().__init__(lambda: [(str(address.hostname), address.port or 0)] if self._accepts else [])
        self._accepts = True
        self._answers = True

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def stall(self) -> None:
        """Stop forwarding in both directions without closing connections, and accept no new ones."""
        self._accepts = False
        for connection in self.connections:
            connection.stall(_FOR_GOOD)

    def drop_answers(self) -> None:
        """Forward what clients send, and drop the answers."""
        self._answers = False
        for connection in self.connections:
            connection.drop_answers(_FOR_GOOD)

    def cut(self) -> None:
        """Cut all connections and accept no new ones."""
        self._accepts = False
        self.reset()

    def reset(self) -> None:
        """End all connections with a reset, as a machine does that has lost its memory."""
        for connection in list(self.connections):
            connection.reset()

    def close_half(self) -> None:
        """Send the server the end of the data on all connections, and still forward what it sends."""
        for connection in self.connections:
            connection._writers[1].write_eof()

    def restore(self) -> None:
        """Accept connections again."""
        self._accepts = True

    async def _dial(self, first: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        streams = await super()._dial(first)
        return (asyncio.StreamReader(), streams[1]) if streams and not self._answers else streams

"""A client that handles WebSocket frames itself, so that thousands of clients fit into a process."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Final, NoReturn, cast

from samedeal.protocol.messages import SUBPROTOCOL

PING: Final = 9
PONG: Final = 10


class FrameClient(asyncio.Protocol):
    """A connection to a server, at a path and with further headers. ``ready`` fails if the server closes it before."""

    def __init__(self, path: str = "", headers: str = "") -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._path = path or "/"
        self._headers = headers
        self._rest = b""
        self._open = False

    async def connect(self, host: str, port: int, **options: Any) -> None:
        """Connect, and wait until the client is ready."""
        await asyncio.get_running_loop().create_connection(lambda: self, host, port, **options)
        await self.ready

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # isinstance would be false under uvloop
        request = (
            f"GET {self._path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{self._headers}"
            f"Sec-WebSocket-Key: {'A' * 22}==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
        )
        self.transport.write(request.encode())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(exc or ConnectionError(f"closed: {self._rest[:200]!r}"))

    def on_open(self) -> None:
        """Begin, once the server has accepted the connection."""

    def on_frame(self, opcode: int, payload: bytes) -> None:
        """Handle a frame."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        """Handle the complete frames in the data received so far, and keep the rest."""
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        if not self._open:
            self._rest = data
            if (head := data.find(b"\r\n\r\n")) < 0:
                return
            if not data.startswith(b"HTTP/1.1 101 "):
                self.transport.close()
                return
            at, self._open = head + 4, True
            self.on_open()
        while end - at >= 2:
            start, size = at + 2, data[at + 1]
            if size >= 126:
                start += 2 if size == 126 else 8
                size = int.from_bytes(data[at + 2 : start], "big")
            if end < start + size:
                break
            opcode, payload = data[at] & 15, data[start : start + size]
            at = start + size
            if opcode == PING:
                self.send_frame(PONG, payload)
            else:
                self.on_frame(opcode, payload)
        self._rest = data[at:]

    def send_frame(self, opcode: int, payload: bytes) -> None:
        """Send a short frame. Its mask is 0."""
        self.transport.write(frame(opcode, payload))


def frame(opcode: int, payload: bytes) -> bytes:
    """Return a frame with a mask of 0."""
    size = len(payload)
    head = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes((0x80 | opcode,)) + head + bytes(4) + payload


def give_up(problem: str) -> NoReturn:
    """End the process at once. Under uvloop, an exception in a callback of a protocol only ends the connection."""
    print(problem, file=sys.stderr, flush=True)
    os._exit(1)

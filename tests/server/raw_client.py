"""A client on a plain TCP connection, which sends whatever bytes a test wants."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections import defaultdict
from typing import Final, Self
from urllib.parse import urlsplit

from samedeal.protocol.codec import encode
from samedeal.protocol.messages import SUBPROTOCOL, Hello

DEADLINE: Final = 30.0
"""Timeout, in seconds, for a node to react."""

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA

HANDSHAKE: Final = {
    "Host": "cards.example.org",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": SUBPROTOCOL,
}


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    fin: bool = True,
    reserved: int = 0,
    masked: bool = True,
    length: int | None = None,
) -> bytes:
    """A WebSocket frame of a client, valid or not. ``length`` is the length in its header."""
    told = len(payload) if length is None else length
    mask = 0x80 if masked else 0
    head = bytes([(0x80 if fin else 0) | reserved << 4 | opcode])
    if told < 126:
        head += bytes([mask | told])
    elif told < 1 << 16:
        head += bytes([mask | 126]) + struct.pack("!H", told)
    else:
        head += bytes([mask | 127]) + struct.pack("!Q", told)
    return head + (bytes(4) if masked else b"") + payload


def handshake(request: str = "GET / HTTP/1.1", /, **changes: str | None) -> bytes:
    """A handshake request. Headers are given by name with underscores, None omits one."""
    headers: dict[str, str | None] = dict(HANDSHAKE)
    headers |= {name.replace("_", "-"): value for name, value in changes.items()}
    lines = [request, *(f"{name}: {value}" for name, value in headers.items() if value is not None)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def hello(number: int = 1, name: str = "wire") -> bytes:
    """The frame of a Hello."""
    return frame(BINARY, encode(Hello(id=number, name=name)))


class Wire:
    """A TCP connection to a node."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, url: str) -> Self:
        """Open a connection and send nothing."""
        at = urlsplit(url)
        wire = cls(*await asyncio.open_connection(at.hostname, at.port))
        _opened[url].append(wire)
        return wire

    @classmethod
    async def greeted(cls, url: str) -> Self:
        """Open a connection with handshake and Hello."""
        wire = await cls.open(url)
        await wire.send(handshake())
        assert b" 101 " in await wire.head()
        await wire.send(hello())
        opcode, _ = await wire.frame() or (-1, b"")
        assert opcode == BINARY
        return wire

    async def send(self, data: bytes) -> None:
        """Send bytes. A lost connection is ignored."""
        try:
            self.writer.write(data)
            async with asyncio.timeout(DEADLINE):
                await self.writer.drain()
        except ConnectionError:
            pass

    async def head(self) -> bytes:
        """The head of an HTTP response, or the part received before the node closed."""
        async with asyncio.timeout(DEADLINE):
            try:
                return await self.reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as ended:
                return ended.partial
            except ConnectionError:
                return b""

    async def frame(self) -> tuple[int, bytes] | None:
        """The next frame, or None once the node has closed."""
        try:
            async with asyncio.timeout(DEADLINE):
                first, second = await self.reader.readexactly(2)
                length = second & 0x7F
                if length == 126:
                    (length,) = struct.unpack("!H", await self.reader.readexactly(2))
                elif length == 127:
                    (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
                return first & 0x0F, await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def ended(self) -> int:
        """Read until the node closes. Return the close code, or 0."""
        code = 0
        while (got := await self.frame()) is not None:
            if got[0] == CLOSE and len(got[1]) >= 2:
                (code,) = struct.unpack("!H", got[1][:2])
        return code

    async def eof(self) -> bytes:
        """Read until the node closes. Return what was read."""
        async with asyncio.timeout(DEADLINE):
            try:
                return await self.reader.read(-1)
            except ConnectionError:
                return b""

    async def close(self) -> None:
        """Close the connection. Those to nodes in the process of the tests are also closed before their node stops."""
        self.writer.transport.abort()


_opened: Final[defaultdict[str, list[Wire]]] = defaultdict(list)


async def close_wires(url: str) -> None:
    """Close all connections to a node."""
    for wire in _opened.pop(url, ()):
        await wire.close()

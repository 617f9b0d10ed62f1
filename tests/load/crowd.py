"""Thousands of connections that do little, from a process of their own, each as small as it can be.

    python -m tests.load.crowd HOST PORT COUNT [ROOM [deaf|slow]]

opens so many connections and has each say hello and, where there is a room, watch it; a deaf one reads nothing from then
on, a slow one a little each second. Says ``there`` once all are, and stays until its standard input ends.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from typing import Final

from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import SUBPROTOCOL

AT_ONCE: Final = 40
_PING, _PONG = 9, 10
_SLOWLY: Final = 1.0


class Looker(asyncio.Protocol):
    """A WebSocket client that says hello, watches, and forgets what it is told."""

    def __init__(self, number: int, room: str, ear: str) -> None:
        self.there: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._number = number
        self._room = room
        self._ear = ear
        self._data = b""
        self._open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        request = (
            "GET / HTTP/1.1\r\nHost: load\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {'A' * 22}==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
        )
        transport.write(request.encode())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.there.done():
            self.there.set_exception(exc or ConnectionError(f"closed: {self._data[:200]!r}"))

    def data_received(self, data: bytes) -> None:
        if self._room and self.there.done():
            if self._ear == "slow":
                self._transport.pause_reading()
                asyncio.get_running_loop().call_later(_SLOWLY, self._transport.resume_reading)
            return  # what it is shown costs this process next to nothing; the server cuts it for that after 40 s
        self._data += data
        if not self._open and b"\r\n\r\n" in self._data:
            head, _, self._data = self._data.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 101 "):
                self._data = head
                self._transport.close()
                return
            self._open = True
            self._say({"type": "hello", "id": 1, "name": f"looker-{self._number}"})
        while self._open and (frame := self._frame()) is not None:
            self._hear(*frame)

    def _frame(self) -> tuple[int, bytes] | None:
        data, start = self._data, 2
        if len(data) < start:
            return None
        size = data[1] & 127
        if size > 125:
            start += 2 if size == 126 else 8
            size = int.from_bytes(data[2:start], "big")
        if len(data) < start + size:
            return None
        self._data = data[start + size :]
        return data[0] & 15, data[start : start + size]

    def _hear(self, opcode: int, payload: bytes) -> None:
        if opcode == _PING:
            self._send(_PONG, payload)
        elif not self.there.done():
            fields = unpack(payload, dict[str, object])
            if fields["type"] == "welcome" and self._room:
                self._say({"type": "watch", "id": 2, "room": self._room})
            elif fields["type"] in ("welcome", "watching"):
                self.there.set_result(None)
                if self._ear == "deaf":
                    self._transport.pause_reading()
            else:
                self.there.set_exception(ConnectionError(str(fields)))

    def _say(self, fields: dict[str, object]) -> None:
        self._send(2, pack(fields))

    def _send(self, opcode: int, payload: bytes) -> None:
        self._transport.write(bytes((0x80 | opcode, 0x80 | len(payload))) + bytes(4) + payload)


async def come(host: str, port: int, count: int, room: str, ear: str) -> None:
    """Open the connections; returns when all are there."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with places:
            loop = asyncio.get_running_loop()
            _, looker = await loop.create_connection(lambda: Looker(number, room, ear), host, port)
            await looker.there

    await asyncio.gather(*map(one, range(count)))


async def main(host: str, port: str, count: str, room: str = "", ear: str = "") -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    await come(host, int(port), int(count), room, ear)
    print("there", flush=True)
    await asyncio.to_thread(os.read, 0, 1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""A process with thousands of idle connections that use as little memory as possible.

    python -m tests.load.crowd HOST PORT COUNT [ROOM [stopped|slow|timed|page]]

opens COUNT connections. Each sends a hello and, if there is a ROOM, watches it. A stopped one then stops reading, and a slow
one reads a little each second. Prints ``ready`` once all are connected, and runs until its standard input closes.

A page first gets all files of the web page, and connects with the headers of a browser.

A timed crowd answers each line of its standard input with the ages of the moves that it has received since the last one:
their median and their 99th percentile, in seconds since the commit. Few of its clients decode what they receive.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from importlib.resources import files
from typing import Final, cast

from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import SUBPROTOCOL

MAX_CONNECTING: Final = 40
BROWSER_HEADERS: Final = (
    "Origin: http://localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n"
    "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
)
_PING, _PONG = 9, 10
_SLOW_INTERVAL: Final = 1.0
_TIMED_SHARE: Final = 20
"""In a timed crowd, one of so many clients decodes what it receives."""


class IdleClient(asyncio.Protocol):
    """A WebSocket client that sends a hello, watches, and discards what it receives."""

    ages: Final[list[float]] = []
    """The ages of all received moves of a timed crowd, in seconds."""

    def __init__(self, number: int, room: str, reading: str) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._number = number
        self._room = room
        self._reading = reading
        self._headers = BROWSER_HEADERS if reading == "page" else ""
        self._data = b""
        self._open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # isinstance would be false under uvloop
        self._transport = transport
        request = (
            f"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{self._headers}"
            f"Sec-WebSocket-Key: {'A' * 22}==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
        )
        transport.write(request.encode())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(exc or ConnectionError(f"closed: {self._data[:200]!r}"))

    def data_received(self, data: bytes) -> None:
        is_timed = self._reading == "timed" and self._number % _TIMED_SHARE == 0
        if self._room and self.ready.done() and not is_timed:
            if self._reading == "slow":
                self._transport.pause_reading()
                asyncio.get_running_loop().call_later(_SLOW_INTERVAL, self._transport.resume_reading)
            return  # parsing would cost time here; the server disconnects the client after 40 s without a pong
        self._data += data
        if not self._open and b"\r\n\r\n" in self._data:
            head, _, self._data = self._data.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 101 "):
                self._data = head
                self._transport.close()
                return
            self._open = True
            self._send_message({"type": "hello", "id": 1, "name": f"client-{self._number}"})
        while self._open and (frame := self._frame()) is not None:
            self._on_frame(*frame)

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

    def _on_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == _PING:
            self._send_frame(_PONG, payload)
        elif self.ready.done():
            fields = unpack(payload, dict[str, object])
            if fields["type"] == "delayedmove":
                self.ages.append(time.time() - cast("int", fields["time"]) / 1000)
        else:
            fields = unpack(payload, dict[str, object])
            if fields["type"] == "welcome" and self._room:
                self._send_message({"type": "watch", "id": 2, "room": self._room})
            elif fields["type"] in ("welcome", "watching"):
                self.ready.set_result(None)
                if self._reading == "stopped":
                    self._transport.pause_reading()
            else:
                self.ready.set_exception(ConnectionError(str(fields)))

    def _send_message(self, fields: dict[str, object]) -> None:
        self._send_frame(2, pack(fields))

    def _send_frame(self, opcode: int, payload: bytes) -> None:
        self._transport.write(bytes((0x80 | opcode, 0x80 | len(payload))) + bytes(4) + payload)


async def connect_all(host: str, port: int, count: int, room: str, reading: str) -> None:
    """Open the connections and wait until all are ready."""
    places = asyncio.Semaphore(MAX_CONNECTING)

    async def one(number: int) -> None:
        async with places:
            loop = asyncio.get_running_loop()
            if reading == "page":
                await get_page(host, port)
            _, client = await loop.create_connection(lambda: IdleClient(number, room, reading), host, port)
            await client.ready

    await asyncio.gather(*map(one, range(count)))


async def get_page(host: str, port: int) -> None:
    """Get all files of the page."""
    for file in (files("samedeal_server.page") / "static").iterdir():
        name = file.name.replace("index.html", "")
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"GET /{name} HTTP/1.1\r\nHost: localhost\r\n{BROWSER_HEADERS}\r\n".encode())
        if not (await reader.read()).startswith(b"HTTP/1.1 200 "):
            raise ConnectionError(f"the server does not serve /{name}")
        writer.close()


async def main(host: str, port: str, count: str, room: str = "", reading: str = "") -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    await connect_all(host, int(port), int(count), room, reading)
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        ages = sorted(IdleClient.ages)
        IdleClient.ages.clear()
        quantiles = [ages[int(share * len(ages))] for share in (0.5, 0.99)] if ages else [0.0, 0.0]
        print(json.dumps({"moves": len(ages), "median": quantiles[0], "p99": quantiles[1]}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

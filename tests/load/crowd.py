"""A process with thousands of idle connections that use as little memory as possible.

    python -m tests.load.crowd HOST PORT COUNT [ROOM [timed|page]]

opens COUNT connections. Each sends a hello and, if there is a ROOM, watches it. Prints ``ready`` once all are connected,
and runs until its standard input closes.

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
from typing import Final, cast

from samedeal.protocol.codec import pack, unpack
from samedeal_server.page.files import DOCUMENT, static_files
from tests.load.frame_client import FrameClient

MAX_CONNECTING: Final = 40
BROWSER_HEADERS: Final = (
    "Origin: http://localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n"
    "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
)
_FILES: Final = [*static_files(b"")]
_TIMED_SHARE: Final = 20
"""In a timed crowd, one of so many clients decodes what it receives."""


class IdleClient(FrameClient):
    """A client that sends a hello, watches, and discards what it receives."""

    ages: Final[list[float]] = []
    """The ages of all received moves of a timed crowd, in seconds."""

    def __init__(self, number: int, room: str, reading: str) -> None:
        super().__init__(headers=BROWSER_HEADERS if reading == "page" else "")
        self._number = number
        self._room = room
        self._reading = reading

    def on_open(self) -> None:
        self.send({"type": "hello", "id": 1, "name": f"client-{self._number}"})

    def data_received(self, data: bytes) -> None:
        is_timed = self._reading == "timed" and self._number % _TIMED_SHARE == 0
        if not self._room or not self.ready.done() or is_timed:
            super().data_received(data)
        # Otherwise parsing would cost time here. The server disconnects the client after 40 s without a pong.

    def on_frame(self, opcode: int, payload: bytes) -> None:
        fields = unpack(payload, dict[str, object])
        if self.ready.done():
            if fields["type"] == "delayedmove":
                self.ages.append(time.time() - cast("int", fields["time"]) / 1000)
        elif fields["type"] == "welcome" and self._room:
            self.send({"type": "watch", "id": 2, "room": self._room})
        elif fields["type"] in ("welcome", "watching"):
            self.ready.set_result(None)
        else:
            self.ready.set_exception(ConnectionError(str(fields)))

    def send(self, fields: dict[str, object]) -> None:
        """Send a message."""
        self.send_frame(2, pack(fields))


async def connect_all(host: str, port: int, count: int, room: str, reading: str) -> None:
    """Open the connections and wait until all are ready."""
    places = asyncio.Semaphore(MAX_CONNECTING)

    async def one(number: int) -> None:
        async with places:
            if reading == "page":
                await get_page(host, port)
            await IdleClient(number, room, reading).connect(host, port)

    await asyncio.gather(*map(one, range(count)))


async def get_page(host: str, port: int) -> None:
    """Get all files of the page."""
    for file in _FILES:
        name = file.replace(DOCUMENT, "")
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

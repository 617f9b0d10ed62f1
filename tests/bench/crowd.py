"""A process with thousands of idle connections that use as little memory as possible.

    python -m tests.bench.crowd HOST PORT COUNT [ROOM]

opens COUNT connections. Each sends a hello and, if there is a ROOM, watches it. Prints ``ready`` once all are connected,
and runs until its standard input closes.

A crowd that watches answers each line of its standard input with the ages of the moves that it has received since the last
one: their median and their 99th percentile, in seconds since the commit. Few of its clients decode what they receive.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from typing import Final, cast

from samedeal.protocol.codec import pack, unpack
from tests.bench.frame_client import FrameClient

MAX_CONNECTING: Final = 40
_TIMED_SHARE: Final = 20
"""In a crowd that watches, one of so many clients decodes what it receives."""


class IdleClient(FrameClient):
    """A client that sends a hello, watches, and discards what it receives."""

    ages: Final[list[float]] = []
    """The ages of all received moves of a race that is watched, in seconds."""

    def __init__(self, number: int, room: str = "") -> None:
        super().__init__()
        self._number = number
        self._room = room

    def on_open(self) -> None:
        self.send({"type": "hello", "id": 1, "name": f"client-{self._number}"})

    def data_received(self, data: bytes) -> None:
        if not self._room or not self.ready.done() or self._number % _TIMED_SHARE == 0:
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


async def connect_all(host: str, port: int, count: int, room: str) -> None:
    """Open the connections and wait until all are ready."""
    places = asyncio.Semaphore(MAX_CONNECTING)

    async def one(number: int) -> None:
        async with places:
            await IdleClient(number, room).connect(host, port)

    await asyncio.gather(*map(one, range(count)))


async def main(host: str, port: str, count: str, room: str = "") -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    await connect_all(host, int(port), int(count), room)
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        ages = sorted(IdleClient.ages)
        IdleClient.ages.clear()
        quantiles = [ages[int(share * len(ages))] for share in (0.5, 0.99)] if ages else [0.0, 0.0]
        print(json.dumps({"moves": len(ages), "median": quantiles[0], "p99": quantiles[1]}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

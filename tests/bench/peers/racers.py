"""Racers on the servers for Node.js, in a process of their own. Their moves are as long as those of real racers.

    python -m tests.bench.peers.racers {colyseus|boardgame_io} URL RACERS

Standard input and output are those of ``tests.bench.load_generator``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from abc import ABC, abstractmethod
from random import Random
from typing import Final, Self

import uvloop
from websockets.asyncio.client import ClientConnection, connect

from samedeal.protocol.codec import pack
from tests.bench.load_generator import SEATS, LoadResult, measure_on_demand

_ACTION: Final = "3 5"


class PeerRacer(ABC):
    """A player whose every move is acknowledged."""

    def __init__(self, socket: ClientConnection, number: int) -> None:
        self._socket = socket
        self._number = number
        self._rng = Random(number)
        self._revision = 0
        self.latencies: list[float] = []
        self.bytes = 0

    @classmethod
    @abstractmethod
    async def join(cls, url: str, number: int) -> Self:
        """Take a seat in a room with a free seat."""

    @abstractmethod
    def move(self) -> bytes | str:
        """Return the message with the next move."""

    @abstractmethod
    def is_ack(self, message: bytes | str) -> bool:
        """Return whether a message acknowledges the newest move."""

    async def race(self, until: float, pace: float) -> None:
        """Make moves until a time, as ``LoadRacer.start`` does."""
        self.latencies, self.bytes = [], 0
        due = time.perf_counter()
        while due < until:
            if pace:
                due += self._rng.expovariate(pace)
                await self._skip_until(due)
            if (sent := time.perf_counter()) >= until:
                return
            move = self.move()
            self._revision += 1
            self.bytes += len(move) + (6 if len(move) < 126 else 8)
            await self._socket.send(move)
            while not self.is_ack(await self._receive()):
                pass
            self.latencies.append(time.perf_counter() - sent)
            due = due if pace else time.perf_counter()

    async def _skip_until(self, due: float) -> None:
        """Read messages about other players until it is time to move."""
        try:
            async with asyncio.timeout(due - time.perf_counter()):
                while True:
                    await self._receive()
        except TimeoutError:
            pass

    async def _receive(self) -> bytes | str:
        frame = await self._socket.recv()
        self.bytes += len(frame) + (2 if len(frame) < 126 else 4)
        return frame


_JOIN: Final = b"\x0a"
_DATA: Final = b"\x0d"


class ColyseusRacer(PeerRacer):
    """A racer on Colyseus, whose messages are msgpack."""

    @classmethod
    async def join(cls, url: str, number: int) -> Self:
        seat = await asyncio.to_thread(_reserve_seat, url)
        room = f"{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}"
        socket = await connect(f"{url}/{room}", compression=None, ping_interval=None)
        await socket.recv()
        await socket.send(_JOIN)
        return cls(socket, number)

    def move(self) -> bytes:
        return _DATA + pack("act") + pack({"revision": self._revision, "action": _ACTION})

    def is_ack(self, message: bytes | str) -> bool:
        return isinstance(message, bytes) and message.startswith(_DATA)


def _reserve_seat(url: str) -> dict[str, str]:
    where = f"http{url.removeprefix('ws')}/matchmake/joinOrCreate/race"
    request = urllib.request.Request(where, data=b"{}", headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return dict(json.load(answer))


# boardgame.io sends JSON over Socket.IO. A message starts with digits for its kind.
_PING: Final = "2"
_PONG: Final = "3"
_CONNECT: Final = "40/race,"
_EVENT: Final = "42/race,"


class BoardgameIoRacer(PeerRacer):
    """A racer on boardgame.io. A move is acknowledged when the mover gets the new state of the race."""

    @classmethod
    async def join(cls, url: str, number: int) -> Self:
        socket = await connect(f"{url}/socket.io/?EIO=4&transport=websocket", compression=None, ping_interval=None)
        await socket.recv()
        await socket.send(_CONNECT)
        await socket.recv()
        racer = cls(socket, number)
        await socket.send(_event("sync", racer._room, racer._seat, None, SEATS))
        await socket.recv()
        return racer

    async def _receive(self) -> bytes | str:
        message = await super()._receive()
        if message == _PING:
            await self._socket.send(_PONG)
        return message

    @property
    def _room(self) -> str:
        return f"room{self._number // SEATS}"

    @property
    def _seat(self) -> str:
        return str(self._number % SEATS)

    def move(self) -> str:
        payload = {"type": "act", "args": [_ACTION], "playerID": self._seat, "credentials": None}
        return _event("update", {"type": "MAKE_MOVE", "payload": payload}, self._revision, self._room, self._seat)

    def is_ack(self, message: bytes | str) -> bool:
        return isinstance(message, str) and f'"playerID":"{self._seat}"' in message


def _event(name: str, *arguments: object) -> str:
    return _EVENT + json.dumps([name, *arguments], separators=(",", ":"))


async def main(server: str, url: str, count: str) -> None:
    kind = {"colyseus": ColyseusRacer, "boardgame_io": BoardgameIoRacer}[server]
    racers = [await kind.join(url, number) for number in range(int(count))]

    async def measure(seconds: float, pace: float) -> LoadResult:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(racer.race(until, pace) for racer in racers))
        latencies = (latency for racer in racers for latency in racer.latencies)
        return LoadResult.of(latencies, seconds, sum(racer.bytes for racer in racers))

    await measure_on_demand(measure)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))

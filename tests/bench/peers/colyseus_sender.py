"""Racers on Colyseus, in a process of their own. Their moves are as long as those of real racers.

    python -m tests.bench.peers.colyseus_sender URL RACERS

Standard input and output are those of ``tests.bench.move_sender``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from dataclasses import asdict
from random import Random
from typing import Final

import uvloop
from websockets.asyncio.client import ClientConnection, connect

from samedeal.protocol.codec import pack
from samedeal_client.load_generator import LoadResult

_JOIN: Final = b"\x0a"
_DATA: Final = b"\x0d"


class ColyseusRacer:
    """A player whose every move is acknowledged."""

    def __init__(self, socket: ClientConnection, seed: int) -> None:
        self._socket = socket
        self._rng = Random(seed)
        self._revision = 0
        self.latencies: list[float] = []
        self.bytes = 0

    @classmethod
    async def join(cls, url: str, seed: int) -> ColyseusRacer:
        """Take a seat in a room with a free seat."""
        seat = await asyncio.to_thread(_reserve_seat, url)
        room = f"{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}"
        socket = await connect(f"{url}/{room}", compression=None, ping_interval=None)
        await socket.recv()
        await socket.send(_JOIN)
        return cls(socket, seed)

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
            move = _DATA + pack("act") + pack({"revision": self._revision, "action": "3 5"})
            self._revision += 1
            self.bytes += len(move) + 6
            await self._socket.send(move)
            while not (await self._receive()).startswith(_DATA):
                pass
            self.latencies.append(time.perf_counter() - sent)
            due = due if pace else time.perf_counter()

    async def _skip_until(self, due: float) -> None:
        """Read counts of other players until it is time to move."""
        try:
            async with asyncio.timeout(due - time.perf_counter()):
                while True:
                    await self._receive()
        except TimeoutError:
            pass

    async def _receive(self) -> bytes:
        frame = await self._socket.recv()
        assert isinstance(frame, bytes)
        self.bytes += len(frame) + (2 if len(frame) < 126 else 4)
        return frame


def _reserve_seat(url: str) -> dict[str, str]:
    where = f"http{url.removeprefix('ws')}/matchmake/joinOrCreate/race"
    request = urllib.request.Request(where, data=b"{}", headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return dict(json.load(answer))


async def main(url: str, count: str) -> None:
    racers = [await ColyseusRacer.join(url, seed) for seed in range(int(count))]
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        seconds, pace = map(float, line.split())
        until = time.perf_counter() + seconds
        await asyncio.gather(*(racer.race(until, pace) for racer in racers))
        latencies = sorted(latency for racer in racers for latency in racer.latencies)
        middle, high = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
        load = LoadResult(len(latencies), seconds, middle, high, 0, sum(racer.bytes for racer in racers))
        print(json.dumps(asdict(load)), flush=True)
        print("ready", flush=True)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))

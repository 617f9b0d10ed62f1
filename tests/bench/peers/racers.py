"""Racers on the servers for Node.js, in a process of their own. Their moves are as long as those of real racers.

    python -m tests.bench.peers.racers {colyseus|boardgame_io} URL RACERS

Standard input and output are those of ``tests.bench.load_generator``.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from functools import partial
from typing import Any, Final, Self

import uvloop
from websockets.frames import Opcode

from samedeal.protocol.codec import pack
from tests.bench.load_generator import SEATS, PacedClient, measure, measure_on_demand
from tests.load.frame_client import frame

_ACTION: Final = "3 5"
_JOIN: Final = b"\x0a"
_DATA: Final = b"\x0d"

# boardgame.io sends JSON over Socket.IO. A message starts with digits for its kind.
_PING: Final = b"2"
_PONG: Final = b"3"
_CONNECT: Final = b"40/race,"
_EVENT: Final = b"42/race,"


class PeerRacer(PacedClient):
    """A player whose every move is acknowledged. It sends the messages in ``opening`` one after the other, as answers."""

    OPCODE: Opcode

    def __init__(self, path: str, number: int, *opening: bytes) -> None:
        super().__init__(path, number)
        self._opening = [*opening]
        self._revision = -1

    @classmethod
    def of_room(cls, url: str, number: int) -> Self:
        """Return a racer who is about to take a seat."""
        raise NotImplementedError

    def move(self) -> bytes:
        """Return the message with the move at a revision."""
        raise NotImplementedError

    def is_ack(self, payload: bytes) -> bool:
        """Return whether a message acknowledges the newest move."""
        raise NotImplementedError

    def next_move(self) -> bytes:
        self._revision += 1
        return frame(self.OPCODE, self.move())

    def on_frame(self, opcode: int, payload: bytes) -> None:
        if payload == _PING:
            self.send_frame(self.OPCODE, _PONG)
        elif self._opening:
            self.send_frame(self.OPCODE, self._opening.pop(0))
        elif not self.ready.done():
            self.ready.set_result(None)
        elif self.sent_at and self.is_ack(payload):
            self.acked()


class ColyseusRacer(PeerRacer):
    """A racer on Colyseus, whose messages are msgpack."""

    OPCODE = Opcode.BINARY

    @classmethod
    def of_room(cls, url: str, number: int) -> Self:
        where = f"http{url.removeprefix('ws')}/matchmake/joinOrCreate/race"
        request = urllib.request.Request(where, data=b"{}", headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            seat = json.load(answer)
        return cls(f"/{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}", number, _JOIN)

    def move(self) -> bytes:
        return _DATA + pack("act") + pack({"revision": self._revision, "action": _ACTION})

    def is_ack(self, payload: bytes) -> bool:
        return payload.startswith(_DATA)


class BoardgameIoRacer(PeerRacer):
    """A racer on boardgame.io. A move is acknowledged when the mover gets the new state of the race."""

    OPCODE = Opcode.TEXT

    def __init__(self, number: int) -> None:
        self._room, self._seat = f"room{number // SEATS}", str(number % SEATS)
        sync = _event("sync", self._room, self._seat, None, SEATS)
        super().__init__("/socket.io/?EIO=4&transport=websocket", number, _CONNECT, sync)

    @classmethod
    def of_room(cls, url: str, number: int) -> Self:
        return cls(number)

    def move(self) -> bytes:
        payload = {"type": "act", "args": [_ACTION], "playerID": self._seat, "credentials": None}
        return _event("update", {"type": "MAKE_MOVE", "payload": payload}, self._revision, self._room, self._seat)

    def is_ack(self, payload: bytes) -> bool:
        return f'"playerID":"{self._seat}"'.encode() in payload


def _event(name: str, *arguments: object) -> bytes:
    return _EVENT + json.dumps([name, *arguments], separators=(",", ":")).encode()


async def main(server: str, url: str, count: str) -> None:
    kind: Any = {"colyseus": ColyseusRacer, "boardgame_io": BoardgameIoRacer}[server]
    racers = [kind.of_room(url, number) for number in range(int(count))]
    host, port = url.removeprefix("ws://").split(":")
    for racer in racers:
        await racer.connect(host, int(port))
    await measure_on_demand(partial(measure, racers))


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))

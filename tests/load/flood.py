"""A process whose clients send requests as fast as the server answers them.

    python -m tests.load.flood HOST PORT KIND COUNT [ADDRESSES]

connects COUNT clients from so many addresses of their own. KIND is one of ``FLOODS``. Prints ``ready`` once all are
connected. Runs until its standard input closes, and then prints the number of requests that were not refused as too many.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, Final

import uvloop

from samedeal.protocol.codec import unpack
from tests.load.crowd import MAX_CONNECTING, IdleClient
from tests.load.frame_client import PING, PONG, give_up

SEATS: Final = 16
"""Number of clients in a room, in floods of requests that need a seat."""

_ROOM: Final[dict[str, Any]] = {"countdown": 0, "games": ("athena",), "undo": "free", "limit": 7200, "players": SEATS}

FLOODS: Final[Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "ListRooms": ({"type": "listrooms"},),
    "Ready": ({"type": "ready", "ready": True}, {"type": "ready", "ready": False}),
    "Ping": ({"type": "ping"},),
    "unknown rooms": ({"type": "join", "room": "nowhere"}, {"type": "watch", "room": "nowhere"}),
    "Join, Leave": ({"type": "join"}, {"type": "leave"}),
    "Join": ({"type": "join"},),
    "Watch, Leave": ({"type": "leave"}, {"type": "watch"}),
    "Act": ({"type": "act", "action": "draw"}, {"type": "act", "action": "undo"}),
    "Act, DeclareStuck": (
        *({"type": "act", "action": "draw"}, {"type": "declarestuck"}),
        *({"type": "act", "action": "undo"}, {"type": "declarestuck"}),
    ),
    "WebSocket pings": (),
}
"""The requests that a client repeats, by the kind of the flood."""

_ACCEPTED: Final = frozenset(("pong", "done", "rooms", "joined", "watching", "acked"))
_PINGS_AT_ONCE: Final = 60
_PINGS_A_SECOND: Final = 9


class Flooder(IdleClient):
    """A client that sends each request once the one before is answered."""

    def __init__(self, number: int) -> None:
        super().__init__(number, "", "")
        self.accepted = 0
        self.room = ""
        self.revision = 0
        self._id = 1
        self._answer: asyncio.Future[Mapping[str, Any]] | None = None
        self._requests: Iterator[Mapping[str, Any]] = iter(())
        self._dealt = asyncio.Event()

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request and return its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._send(request)
        return await self._answer

    async def dealt(self) -> None:
        """Wait until the race has begun."""
        await self._dealt.wait()

    def flood(self, kind: str) -> None:
        """Send requests until the connection is closed."""
        if not FLOODS[kind]:
            self._ping(_PINGS_AT_ONCE)
            return
        keeps_on = self._number % SEATS == 0  # a race in which all are stuck would be over
        self._requests = cycle(each for each in FLOODS[kind] if not (keeps_on and each["type"] == "declarestuck"))
        self._send(next(self._requests))

    def stop(self) -> None:
        """Disconnect."""
        self.transport.abort()

    def _send(self, request: Mapping[str, Any]) -> None:
        self._id += 1
        self._sent = request
        fields = {**request, "id": self._id}
        if request["type"] == "act":
            fields["revision"] = self.revision
        elif request["type"] in ("join", "watch"):
            fields.setdefault("room", self.room)
        self.send(fields)

    def _ping(self, count: int) -> None:
        """Send WebSocket pings at the rate that is allowed, without waiting for the answers."""
        if not self.transport.is_closing():
            for _ in range(count):
                self.send_frame(PING, b"")
            self.accepted += count
            asyncio.get_running_loop().call_later(count / _PINGS_A_SECOND, self._ping, count)

    def on_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == PONG:
            return
        if not self.ready.done():
            super().on_frame(opcode, payload)
            return
        fields = unpack(payload, dict[str, Any])
        if fields["type"] == "boardstate":
            self._dealt.set()
        if fields.get("to") != self._id:
            return
        if self._answer is not None:
            self._answer.set_result(fields)
            self._answer = None
            return
        if fields.get("code") == "rate_limited":
            asyncio.get_running_loop().call_later(fields["retry_after"], self._send, self._sent)
            return
        if fields["type"] not in _ACCEPTED and fields["code"] != "no_room":
            give_up(f"unexpected: {fields}")
        self.accepted += 1
        self.revision += fields["type"] == "acked"
        self._send(next(self._requests))


async def _enter_rooms(clients: Sequence[Flooder], *, racing: bool) -> None:
    """Seat all clients, in rooms of ``SEATS``."""
    for first in range(0, len(clients), SEATS):
        room = clients[first : first + SEATS]
        code = (await room[0].ask({"type": "create", "options": _ROOM}))["room"]
        for client in room:
            client.room = code
            answer = await client.ask({"type": "join", "room": code})
            assert answer["type"] == "joined", answer
        if racing:
            await room[0].ask({"type": "start"})
            await asyncio.gather(*(client.dealt() for client in room))


async def _connect(host: str, port: str, number: int, addresses: int, places: asyncio.Semaphore) -> Flooder:
    async with places:
        client = Flooder(number)
        await client.connect(host, int(port), local_addr=(f"127.0.0.{2 + number % addresses}", 0))
        return client


async def main(host: str, port: str, kind: str, count: str, addresses: str = "1") -> None:
    places = asyncio.Semaphore(MAX_CONNECTING)
    clients = await asyncio.gather(
        *(_connect(host, port, number, int(addresses), places) for number in range(int(count)))
    )
    if any(request["type"] in ("act", "ready", "join", "watch") and "room" not in request for request in FLOODS[kind]):
        await _enter_rooms(clients, racing="Act" in kind)
    for client in clients:
        client.flood(kind)
    print("ready", flush=True)
    await asyncio.to_thread(os.read, 0, 1)
    print(sum(client.accepted for client in clients), flush=True)
    for client in clients:
        client.stop()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))

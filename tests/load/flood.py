"""A process whose clients send cheap requests as fast as the server lets them.

    python -m tests.load.flood HOST PORT KIND COUNT

connects COUNT clients from an address of their own. KIND is one of ``FLOODS``. Prints ``ready`` once all are connected. Runs
until its standard input closes, and then prints the number of requests that were not refused as too many.
"""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import cycle
from typing import Any, Final

from samedeal.protocol.messages import Done, Join, ListRooms, Ping, Pong, Ready, Refused, Rooms, ToServer, Watch
from tests.server.client import Client

SEATS: Final = 16
_OWN_ADDRESS: Final = "127.0.0.2"
"""The address of all clients here, so that racers have the rate of their own address to themselves."""

FLOODS: Final[dict[str, tuple[tuple[type[ToServer], dict[str, Any]], ...]]] = {
    "ListRooms": ((ListRooms, {}),),
    "Ready": ((Ready, {"ready": True}), (Ready, {"ready": False})),
    "Ping": ((Ping, {}),),
    "unknown rooms": ((Join, {"room": "nowhere"}), (Watch, {"room": "nowhere"})),
}
"""The requests that a client repeats, by the kind of the flood."""


async def _enter_rooms(clients: list[Client]) -> None:
    """Seat all clients, in rooms of ``SEATS``."""
    for first in range(0, len(clients), SEATS):
        room = await clients[first].create(players=SEATS)
        for client in clients[first : first + SEATS]:
            await client.join(room)


async def _flood(client: Client, kind: str) -> int:
    """Send requests, each after the answer to the one before, until cancelled. Return how many were not rate limited."""
    accepted = 0
    try:
        for request, fields in cycle(FLOODS[kind]):
            answer = await client.ask(request, **fields)
            client.inbox.clear()
            client.frames.clear()
            if isinstance(answer, Refused) and answer.code == "rate_limited":
                await asyncio.sleep(answer.retry_after)
                continue
            assert isinstance(answer, Pong | Done | Rooms) or getattr(answer, "code", "") == "no_room", answer
            accepted += 1
    except asyncio.CancelledError:
        pass
    return accepted


async def main(host: str, port: str, kind: str, count: str) -> None:
    clients = [
        await Client.hello(f"ws://{host}:{port}", f"flood-{number}", local_addr=(_OWN_ADDRESS, 0))
        for number in range(int(count))
    ]
    if kind == "Ready":
        await _enter_rooms(clients)
    floods = [asyncio.create_task(_flood(client, kind)) for client in clients]
    print("ready", flush=True)
    await asyncio.to_thread(os.read, 0, 1)
    for flood in floods:
        flood.cancel()
    print(sum(await asyncio.gather(*floods)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

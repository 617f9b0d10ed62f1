"""Players with the real client, which reconnects by itself and sends again what has no answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any

from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.room_client import RoomClient
from samedeal_server.store.store import Store
from tests.server.live_nodes import Node
from tests.server.waiting import until


async def _apply_events(client: RoomClient) -> None:
    async for _ in client:
        pass


@asynccontextmanager
async def connected(
    *nodes: Node, names: Sequence[str], room: str = "", **options: Any
) -> AsyncIterator[tuple[RoomClient, ...]]:
    """Clients with seats in a room, on one node after the other. The first one is the host."""
    async with AsyncExitStack() as stack:
        clients: list[RoomClient] = []
        for at, name in enumerate(names):
            link = Link(parse_address(nodes[at % len(nodes)].url), name, MemorySessions())
            clients.append(RoomClient(await stack.enter_async_context(link)))
            stack.callback(asyncio.create_task(_apply_events(clients[at])).cancel)
        room = await clients[0].create(Options(**options), room)
        for client in clients:
            await client.join(room)
            await until(lambda client=client: client.model.is_in(room))  # type: ignore[misc]  # bound at once
        yield tuple(clients)


async def end_race(*clients: RoomClient) -> None:
    """Let all clients of a race resign once they have their boards, and wait until each knows the standings."""
    await until(lambda: all(client.model.board for client in clients))
    for client in clients:
        await client.resign()
    await until(lambda: all(client.model.this_room.standings for client in clients))


@asynccontextmanager
async def races(nodes: Sequence[Node], *rooms: str, **options: Any) -> AsyncIterator[list[RoomClient]]:
    """Races of two clients in each of some rooms."""
    options = {"games": ("athena",), "undo": "free", "countdown": 0, **options}
    async with AsyncExitStack() as stack:
        racers: list[RoomClient] = []
        for room in rooms:
            pair = await stack.enter_async_context(connected(*nodes, names=("ana", "bob"), room=room, **options))
            await pair[0].start()
            racers += pair
        await until(lambda: all(racer.model.own.play for racer in racers))
        yield racers


async def play_random_moves(client: RoomClient, count: int, rng: Random) -> None:
    """Make ``count`` legal moves, and wait for the ack of each."""
    for _ in range(count):
        play = client.model.own.play
        assert play is not None
        client.act(rng.choice(play.board.legal_moves()))
        await until(lambda: not client.model.own.pending)


@asynccontextmanager
async def playing(racers: Sequence[RoomClient]) -> AsyncIterator[None]:
    """Let each client make a move every some hundredths of a second while the block runs, and some moves after it."""
    done = asyncio.Event()

    async def play(client: RoomClient, rng: Random) -> None:
        while not done.is_set():
            await play_random_moves(client, 1, rng)
            await asyncio.sleep(0.05)
        await play_random_moves(client, 5, rng)

    tasks = [asyncio.create_task(play(racer, Random(at))) for at, racer in enumerate(racers)]
    yield
    done.set()
    await asyncio.gather(*tasks)


async def check_and_finish(store: Store, racers: Sequence[RoomClient]) -> None:
    """Assert that the logs have exactly the acked moves, each once and in order, and that every race can finish."""
    for racer in racers:
        room = racer.model.room
        assert room is not None
        log = await store.load_log(room.room, racer.link.player)
        assert [(entry.committed_at - room.starts, entry.action) for entry in log] == list(racer.model.own.actions)
        await until(lambda racer=racer: has_resigned(racer))  # type: ignore[misc]  # bound at once
    await until(lambda: all(len(racer.model.this_room.standings) == 2 for racer in racers))


async def has_resigned(client: RoomClient) -> bool:
    """Whether a client has resigned, or has won by chance."""
    try:
        await client.resign()
    except RequestRefused as refused:
        return refused.code == "already_finished"
    return True

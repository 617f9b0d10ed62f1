"""Players with the real client, for tests in which the store loses its newest writes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from random import Random

from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.room_client import RoomClient
from tests.server.live_nodes import Node
from tests.server.waiting import until


async def connect_player(stack: AsyncExitStack, one: Node, name: str) -> RoomClient:
    """Connect a player with the real client, which reconnects by itself."""
    client = RoomClient(await stack.enter_async_context(Link(parse_address(one.url), name, MemorySessions())))
    task = asyncio.create_task(_apply_events(client))
    stack.callback(task.cancel)
    return client


async def _apply_events(client: RoomClient) -> None:
    async for _ in client:
        pass


async def play_random_moves(client: RoomClient, count: int, rng: Random) -> None:
    """Make ``count`` legal moves, and wait for the ack of each."""
    for _ in range(count):
        play = client.model.own.play
        assert play is not None
        client.act(rng.choice(play.board.legal_moves()))
        await until(lambda: not client.model.own.pending)


async def has_actions(one: Node, room: str, player: str, count: int) -> bool:
    """Whether the store has exactly ``count`` actions of a player."""
    return len(await one.store.load_log(room, player)) == count

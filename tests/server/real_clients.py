"""Players with the real client, for tests in which the store loses its newest writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from random import Random

from samedeal_client.net.address import parse_address
from samedeal_client.net.reconnecting_link import Link
from samedeal_client.net.room_client import RoomClient
from samedeal_client.net.saved_sessions import MemorySessions
from tests.server.client import DEADLINE
from tests.server.live_nodes import Node


async def connect_player(stack: AsyncExitStack, one: Node, name: str) -> RoomClient:
    """Connect a player with the real client, which reconnects by itself."""
    client = RoomClient(await stack.enter_async_context(Link(parse_address(one.url), name, MemorySessions())))
    task = asyncio.create_task(_apply_events(client))
    stack.callback(task.cancel)
    return client


async def _apply_events(client: RoomClient) -> None:
    async for _ in client:
        pass


async def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition of a client's model is true."""
    async with asyncio.timeout(3 * DEADLINE):
        while not condition():  # noqa: ASYNC110  # no event is set when the model changes
            await asyncio.sleep(0.01)


async def play_random_moves(client: RoomClient, count: int, rng: Random) -> None:
    """Make ``count`` legal moves, and wait for the ack of each."""
    for _ in range(count):
        play = client.model.own.play
        assert play is not None
        client.act(rng.choice(play.board.legal_moves()))
        await wait_for(lambda: not client.model.own.pending)


async def has_actions(one: Node, room: str, player: str, count: int) -> bool:
    """Whether the store has exactly ``count`` actions of a player."""
    return len(await one.store.load_log(room, player)) == count

"""Nodes of the real server, as many as a test wants, on one real Redis."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count

import pytest

from samedeal.protocol.admin import SUBPROTOCOL as ADMIN
from samedeal_server.admin import Admin
from samedeal_server.app import _listening, _store
from samedeal_server.clock import Clock
from samedeal_server.config import Config
from samedeal_server.door import Door
from samedeal_server.gateway import Gateway
from samedeal_server.limits import Limits
from samedeal_server.rooms import Rooms
from samedeal_server.roster import Roster
from samedeal_server.store.redis import Store
from samedeal_server.tasks import end
from tests.server.client import Client

PLENTY = Limits(
    rate=1e6,
    burst=1_000_000,
    address_rate=1e6,
    address_burst=1_000_000,
    rooms_per_address=100_000,
    sessions=1_000_000,
    sessions_per_address=100_000,
    guesses_per_address=100_000,
    guesses_per_room=100_000,
)
"""Limits for tests that are not about them."""


@dataclass
class Node:
    """A node that runs in this process; ``running`` is what it does all the time, ``stopping`` is set when it is told to."""

    url: str
    store: Store
    rooms: Rooms
    gateway: Gateway
    roster: Roster
    running: list[asyncio.Task[object]]
    stopping: asyncio.Event

    async def player(self, name: str = "ana", session: str = "") -> Client:
        """A client of this node."""
        return await Client.hello(self.url, name, session)

    async def deafen(self) -> None:
        """Have it hear, sweep and refresh no more, as a node does that Redis's network has forgotten."""
        await end(self.running)


NodeMaker = Callable[..., Awaitable[Node]]


@asynccontextmanager
async def serving(
    redis: str,
    name: str,
    limits: Limits = PLENTY,
    origins: tuple[str, ...] = (),
    token: str = "",
    replicas: int = 0,
) -> AsyncIterator[Node]:
    """A node on a Redis, with everything that it does all the time."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(_store(redis, replicas))
        clock = Clock(store)
        await clock.look()
        rooms = Rooms(store, clock, name, limits)
        stack.push_async_callback(rooms.stop)
        gateway = Gateway(rooms, limits, Door(limits, rooms.metrics, origins))
        stopping = asyncio.Event()
        roster = Roster(gateway, stopping.set)
        stack.push_async_callback(roster.leave)
        await roster.begin()
        if token:
            gateway.others[ADMIN] = Admin(roster, rooms, token, gateway.door.address).serve
        running: list[asyncio.Task[object]] = [asyncio.create_task(rooms.run())]
        stack.push_async_callback(end, running)
        found = await stack.enter_async_context(_listening(Config(port=0, limits=limits), gateway))
        stack.push_async_callback(gateway.drain)
        roster.address = found.here
        running.append(asyncio.create_task(roster.run()))
        yield Node(found.here, store, rooms, gateway, roster, running, stopping)


@pytest.fixture
async def node(redis_url: str) -> AsyncIterator[NodeMaker]:
    """Starts a node, with its limits if it is to have others, on the test's Redis unless it is to be on another."""
    numbers = count(1)
    async with AsyncExitStack() as stack:

        async def start(
            limits: Limits = PLENTY,
            redis: str = redis_url,
            origins: tuple[str, ...] = (),
            token: str = "",
            replicas: int = 0,
        ) -> Node:
            return await stack.enter_async_context(
                serving(redis, f"n{next(numbers)}", limits, origins, token, replicas)
            )

        yield start


@pytest.fixture
def half_made_connections() -> Iterator[None]:
    """Collects connections that were cancelled while they were made, where servers are killed: nobody can close those."""
    yield
    gc.collect()

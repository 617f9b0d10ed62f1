"""Nodes of the real server in the process of the tests, built as the command line builds them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from samedeal.games import offer
from samedeal_server.config.config import Config
from samedeal_server.config.limits import Limits
from samedeal_server.process import app
from samedeal_server.rooms.upkeep import Upkeep
from samedeal_server.store.store import RoomSecret
from samedeal_server.tasks import cancel_and_wait
from tests.server.client import Client
from tests.server.raw_client import close_wires
from tests.server.waiting import until

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
"""Limits that are only reached by tests of the limits."""


RedisClient = Any
"""A redis.asyncio.Redis. Its types do not show that keys and values are bytes."""


class Node:
    """A node that runs in the process of the tests.

    The first of its ``tasks`` receives announcements. ``stop`` is set when it is to stop, as when it is to drain.
    """

    def __init__(self, built: app.Node) -> None:
        self.built = built
        self.url = built.addresses.local
        self.store, self.rooms, self.gateway = built.rooms.store, built.rooms, built.gateway
        self.upkeep, self.agent, self.tasks, self.stop = Upkeep(built.rooms), built.agent, built.tasks, built.stop
        self.health_url = built.health_url

    async def player(self, name: str = "ana", session: str = "", *, bot: bool = False) -> Client:
        """Connect a client that has said hello."""
        return await Client.hello(self.url, name, session, bot=bot)

    def metric(self, name: str, **labels: str) -> float:
        """Return the value of a metric, whose name is given without its prefix."""
        self.gateway.update_gauges()
        value = self.rooms.metrics.registry.get_sample_value(f"samedeal_{name}", labels)
        assert value is not None, f"there is no {name} {labels}"
        return value

    async def becomes(self, name: str, value: float, **labels: str) -> None:
        """Wait until a metric has a value. It may be updated after an answer was sent."""
        await until(lambda: self.metric(name, **labels) == value)

    async def secret(self, room: str) -> RoomSecret:
        """Return the secret of a room."""
        secret = await self.store.load_secret(room)
        assert secret is not None
        return secret

    def followed(self) -> set[str]:
        """The codes of all rooms that the node follows, or is about to follow."""
        rooms = self.rooms
        return {*rooms.hubs, *rooms._refcounts, *rooms._opening, *rooms._listener.rooms}

    async def send_heartbeat(self) -> None:
        """Report the state of the node now."""
        await self.agent.send_heartbeat(self.url)

    async def stop_tasks(self) -> None:
        """Cancel its background tasks, so that it receives no announcements and polls nothing."""
        await cancel_and_wait(self.tasks)


NodeMaker = Callable[..., Awaitable[Node]]


@asynccontextmanager
async def serving(
    redis: str, name: str, limits: Limits = PLENTY, token: str = "", **settings: Any
) -> AsyncIterator[Node]:
    """Run a node on a Redis. ``settings`` are further settings by name."""
    config = Config(port=0, redis=redis, limits=limits, admin_token=token, **settings)
    async with app.build(config, name, asyncio.Event()) as built:
        try:
            yield Node(built)
        finally:
            await close_wires(built.addresses.local)
            await built.gateway.drain()
            offer({})

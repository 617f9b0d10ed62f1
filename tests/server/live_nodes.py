"""Nodes of the real server in the process of the tests, built as the command line builds them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from samedeal.games import offer
from samedeal_server.config.config import Config
from samedeal_server.config.limits import Limits
from samedeal_server.gateway.gateway import Gateway
from samedeal_server.operators.node_agent import NodeAgent
from samedeal_server.process import app
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.upkeep import Upkeep
from samedeal_server.store.store import Store
from samedeal_server.tasks import cancel_and_wait
from tests.server.client import Client
from tests.server.health_client import HealthClient

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


@dataclass(frozen=True)
class Node:
    """A node that runs in the process of the tests."""

    built: app.Node

    @property
    def url(self) -> str:
        """The address to connect to."""
        return self.built.addresses.local

    @property
    def store(self) -> Store:
        """Its store."""
        return self.built.store

    @property
    def rooms(self) -> RoomRegistry:
        """Its rooms."""
        return self.built.rooms

    @property
    def upkeep(self) -> Upkeep:
        """Its periodic work."""
        return self.built.upkeep

    @property
    def gateway(self) -> Gateway:
        """Its gateway."""
        return self.built.gateway

    @property
    def health(self) -> HealthClient:
        """A client of its health listener."""
        return HealthClient(self.built.health_url)

    @property
    def agent(self) -> NodeAgent:
        """Its agent, which reports it to the other nodes."""
        return self.built.agent

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """Its background tasks: the one that receives announcements first."""
        return self.built.tasks

    @property
    def stop(self) -> asyncio.Event:
        """Set when it is to stop, for example once an operator has ordered it to drain."""
        return self.built.stop

    async def player(self, name: str = "ana", session: str = "", *, bot: bool = False) -> Client:
        """Connect a client that has said hello."""
        return await Client.hello(self.url, name, session, bot=bot)

    def metric(self, name: str, **labels: str) -> float:
        """Return the value of a metric, whose name is given without its prefix."""
        self.gateway.update_gauges()
        value = self.built.metrics.registry.get_sample_value(f"samedeal_{name}", labels)
        assert value is not None, f"there is no {name} {labels}"
        return value

    async def send_heartbeat(self) -> None:
        """Report the state of the node now."""
        await self.agent.send_heartbeat(self.url)

    async def stop_tasks(self) -> None:
        """Cancel its background tasks, so that it receives no announcements and polls nothing."""
        await cancel_and_wait(self.tasks)


NodeMaker = Callable[..., Awaitable[Node]]


@asynccontextmanager
async def serving(
    redis: str,
    name: str,
    limits: Limits = PLENTY,
    origins: tuple[str, ...] = (),
    token: str = "",
    replicas: int = 0,
    **settings: Any,
) -> AsyncIterator[Node]:
    """Run a node on a Redis. ``settings`` are further settings by name."""
    config = Config(
        port=0, redis=redis, limits=limits, origins=origins, admin_token=token, replicas=replicas, **settings
    )
    async with app.build(config, name, asyncio.Event()) as built:
        try:
            yield Node(built)
        finally:
            await built.gateway.drain()
            offer({})

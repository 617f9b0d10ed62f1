"""One node among all nodes: it says how it fares, does what the operator has told it, and knows who is kept away.

The store is the truth; what is announced only has a node look at once instead of within two seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import structlog
from redis.exceptions import RedisError

import samedeal
from samedeal.protocol.admin import BanLine, NodeLine, Whereabouts
from samedeal.protocol.messages import Close, Notice
from samedeal_server import bans
from samedeal_server.bans import Bans
from samedeal_server.connection import Connection
from samedeal_server.gateway import Gateway
from samedeal_server.race import Expel
from samedeal_server.store.nodes import Nodes, Order, Stop, Tell
from samedeal_server.vitals import Vitals, memory

EVERY: Final = 2.0
"""Seconds between two looks, and two words of how a node fares."""

_log: structlog.stdlib.BoundLogger = structlog.get_logger("roster")


class Roster:
    """What a node has to do with the others. ``stop`` has it drain; ``address``, to be set before ``run``, is its own."""

    def __init__(self, gateway: Gateway, stop: Callable[[], None]) -> None:
        self.nodes = Nodes(gateway.rooms.store)
        self.address = ""
        self._gateway = gateway
        self._rooms = gateway.rooms
        self._stop = stop
        self._started = gateway.rooms.clock.now()
        self._vitals = Vitals(gateway.metrics)
        self._bans: tuple[BanLine, ...] = ()
        self._order = "0-0"
        self._beaten = 0.0

    @property
    def node(self) -> str:
        """The name of this node."""
        return self._rooms.node

    async def begin(self) -> None:
        """Know the bans, before anybody comes; orders that were given before this node was there are not for it."""
        self._gateway.newcomer = self.note
        self._order = await self.nodes.newest_order()
        await self._look()

    async def run(self) -> None:
        """Beat, and look, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                if loop.time() - self._beaten >= EVERY:
                    self._beaten = loop.time()
                    await self.beat()
                await self._look()
            except (RedisError, TimeoutError, OSError) as error:
                _log.debug("redis", error=str(error), doing="beating")
            except Exception:  # noqa: BLE001  # a mistake here must not end the node's races; it is logged whole
                self._gateway.metrics.faults.inc()
                _log.exception("fault")
            try:
                async with asyncio.timeout(EVERY):
                    await self._rooms.called.wait()
            except TimeoutError:
                continue
            self._rooms.called.clear()

    async def leave(self) -> None:
        """Be named no more; where the store is away, it forgets by itself."""
        try:
            await self.nodes.gone(self.node)
        except (RedisError, TimeoutError, OSError) as error:
            _log.debug("redis", error=str(error), doing="parting")

    # ---------------------------------------------------------------- how it fares

    async def beat(self) -> None:
        """Say how this node fares."""
        await self.nodes.beat(self.line())

    def line(self) -> NodeLine:
        """How this node fares."""
        gateway = self._gateway
        hubs = list(self._rooms.hubs.values())
        measured: dict[str, Any] = self._vitals.look()
        return NodeLine(
            node=self.node,
            version=samedeal.__version__,
            started=self._started,
            heard=self._rooms.clock.now(),
            address=self.address,
            draining=gateway.draining,
            connections=len(gateway.connections),
            players=sum(len(hub.seats) for hub in hubs),
            watching=sum(len(hub.spectators) for hub in hubs),
            rooms=len(hubs),
            memory=memory(),
            **measured,
        )

    def note(self, connection: Connection) -> None:
        """Note where a player is who has just said hello."""
        where = Whereabouts(
            player=connection.player, node=self.node, address=connection.address, at=self._rooms.clock.now()
        )
        self._rooms.spawn(self.nodes.seen(where))

    # ---------------------------------------------------------------- what it is told

    async def _look(self) -> None:
        lines = await self.nodes.bans(self._rooms.clock.now())
        if lines != self._bans:
            self._bans = lines
            self._gateway.bans = Bans(lines)
            self._cut_banned()
        for number, order in await self.nodes.orders(self._order):
            self._order = number
            self._obey(order)

    def _obey(self, order: Order | None) -> None:
        match order:
            case Tell(text):
                for connection in self._gateway.connections:
                    if connection.player:
                        connection.tell(Notice(code="said", message=text))
            case Stop(node):
                if node == self.node:
                    self._stop()

    def _cut_banned(self) -> None:
        """Send those away who came before they were banned, out of their races too."""
        now = self._rooms.clock.now()
        for connection in list(self._gateway.connections):
            line = self._gateway.bans.of(connection.player, connection.address, now) if connection.player else None
            if line is None or connection.shutting:
                continue
            connection.tell(Notice(code="banned", message=bans.sentence(line)))
            connection.shut(Close.BANNED, "banned from this server")
            if connection.seat is not None:
                self._rooms.spawn(self._expel(connection.seat.hub.room, connection.player))

    async def _expel(self, room: str, player: str) -> None:
        await self._rooms.command(room, Expel(player), "")

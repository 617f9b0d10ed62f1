"""A node's agent, through which operators observe the node or control it.

The agent reports the state of the node, carries out orders, and enforces bans and forbidden words, all of which are
stored in Redis. An announcement only makes a node read them at once instead of at the next interval.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import samedeal
from samedeal.forbidden_words import ForbiddenWords
from samedeal.protocol.admin import NodeLine, Whereabouts
from samedeal.protocol_codes import CloseCode
from samedeal.race.commands import KickCommand
from samedeal.sentences import notice
from samedeal_server.races.server_bans import Bans, ban_sentence
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.store.node_registry import DrainOrder, NodeOrder, Nodes, SayOrder
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.node_stats import NodeStats, memory

HEARTBEAT_INTERVAL: Final = 2.0
"""Interval, in seconds, between heartbeats. Orders, bans and words are read at least as often."""

_log = get_logger()


@dataclass(eq=False, repr=False)
class NodeAgent:
    """Lets operators observe a node or control it.

    ``bans`` are the bans that the gateway checks. The agent keeps them up to date. ``stop`` is the event that makes
    the node stop. If an operator orders the node to drain, the agent sets ``stop``.
    """

    _rooms: RoomRegistry
    _connections: set[PlayerConnection]
    _enforced_bans: Bans
    _stop: asyncio.Event
    _last_order: str = "0-0"
    _reported_stop: bool = False
    _words: str = ""

    def __post_init__(self) -> None:
        self.nodes = Nodes(self._rooms.store)
        self._started_at = self._rooms.clock.now()
        self._stats = NodeStats(self._rooms.metrics)

    async def join(self) -> None:
        """Load the bans before clients connect. Skip all orders that were given before the node started."""
        self._last_order = await self.nodes.newest_order_id()
        await self._sync()

    async def report_other_versions(self) -> None:
        """Log how many rooms this node cannot serve. After an upgrade, their players need a node of the version before."""
        rooms = await self._rooms.store.index.newest(self._rooms.limits.rooms)
        if count := (await self.nodes.phases(rooms)).other_version:
            _log.warning("other_version", rooms=count, version=samedeal.__version__)

    async def run(self, address: str) -> None:
        """Send heartbeats, and read orders and bans, until cancelled. ``address`` is the public address of the node."""
        loop = asyncio.get_running_loop()
        next_heartbeat = loop.time()
        while True:
            is_due = loop.time() >= next_heartbeat
            if is_due:
                next_heartbeat = loop.time() + HEARTBEAT_INTERVAL
            await self._rooms.background.guard(self._report(address, is_due=is_due))
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_INTERVAL):
                    await self._rooms.nodes_channel_event.wait()
            self._rooms.nodes_channel_event.clear()

    async def _report(self, address: str, *, is_due: bool) -> None:
        if is_due:
            await self.send_heartbeat(address)
            self._rooms.metrics.backup_timestamp_seconds.set(await self.nodes.last_backup() / 1000)
        await self._sync()
        if self._stop.is_set() and not self._reported_stop:
            self._reported_stop = True  # at once, so that operators do not drain the last ready node
            await self.send_heartbeat(address)

    async def leave(self) -> None:
        """Remove the node from the list of nodes. If Redis is unavailable, the node's entry expires instead."""
        await self._rooms.background.guard(self.nodes.remove_node(self._rooms.node))

    async def send_heartbeat(self, address: str) -> None:
        """Store the state of the node in Redis."""
        await self.nodes.heartbeat(self.node_line(address))

    def node_line(self, address: str) -> NodeLine:
        """Return the state of the node for the list of nodes. The rates in it are averages since the previous call."""
        hubs = list(self._rooms.hubs.values())
        rates: dict[str, Any] = self._stats.sample()
        return NodeLine(
            node=self._rooms.node,
            version=samedeal.__version__,
            started=self._started_at,
            last_seen=self._rooms.clock.now(),
            address=address,
            draining=self._stop.is_set(),
            connections=len(self._connections),
            players=sum(len(hub.audience.seats) for hub in hubs),
            spectator_count=sum(len(hub.audience.spectators) for hub in hubs),
            rooms=len(hubs),
            memory=memory(),
            **rates,
        )

    def record_whereabouts(self, connection: PlayerConnection) -> None:
        """Store in Redis that a player has connected to this node, and from which address."""
        whereabouts = Whereabouts(
            player=connection.player, node=self._rooms.node, address=connection.address, time=self._rooms.clock.now()
        )
        self._rooms.background.spawn(partial(self.nodes.record_whereabouts, whereabouts))

    async def _sync(self) -> None:
        lines = await self.nodes.bans(self._rooms.clock.now())
        if lines != self._enforced_bans.lines:
            self._enforced_bans.replace(lines)
            self._disconnect_banned()
        if (words := await self.nodes.words()) != self._words:
            self._words, self._rooms.words = words, ForbiddenWords(words)
        for order_id, order in await self.nodes.orders(self._last_order):
            self._last_order = order_id
            self._execute(order)

    def _execute(self, order: NodeOrder | None) -> None:
        match order:
            case SayOrder(text):
                for connection in self._connections:
                    if connection.player:
                        connection.send(notice("said", text=text))
            case DrainOrder(node):
                if node == self._rooms.node:
                    self._stop.set()
            case None:  # an order that only a later version knows
                pass

    def _disconnect_banned(self) -> None:
        """Disconnect banned players who are connected, and remove them from their races."""
        now = self._rooms.clock.now()
        for connection in list(self._connections):
            line = self._enforced_bans.of(connection.player, connection.address, now) if connection.player else None
            if line is None or connection.closing:
                continue
            connection.send(notice("banned", sentence=ban_sentence(line)))
            connection.close(CloseCode.BANNED, "banned from this server")
            if connection.hub is not None and connection.seat is not None:
                self._rooms.background.spawn(
                    partial(self._rooms.command, connection.hub.room, KickCommand(connection.player), "")
                )

"""The order in which a node begins to handle requests if more arrive than it can handle at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from heapq import heappop, heappush
from typing import Final

from samedeal_server.config.token_buckets import decrement
from samedeal_server.loop_timers import Alarm, Timers
from samedeal_server.rooms.player_connection import PlayerConnection

TURN: Final = 24
"""Cost, in moves, of the requests that a node begins to handle in one turn of the event loop."""

UNDER_WAY: Final = 64
"""Cost, in moves, of the requests that a node handles at a time."""

WINDOW: Final = 0.02
"""Time, in seconds, after which requests that are still under way no longer keep others waiting.

Otherwise requests that wait for a store that hangs would block the requests that do not need it.
"""

_HEAD_START: Final = 20.0
"""Cost, in moves, by which a connection that asks for less than its share is ahead of those that ask for more."""


class RequestQueue:
    """Lets requests wait while several networks keep a node busy.

    Networks have equal shares of a busy node, and so have the connections of each network. A connection that asks for
    less than its share hardly waits, however many others do. The method is self-clocked fair queueing, as routers use
    it for packets. While all requests are from one network, none of them waits: larger turns cost less.
    """

    def __init__(self, timers: Timers) -> None:
        self._waiting: list[tuple[float, int, PlayerConnection, asyncio.Future[None]]] = []
        self._waiting_by_network: Counter[str] = Counter()
        self._number = 0
        self._progress = 0.0
        self._begun = 0
        self._under_way = 0
        self._renewing = False
        self._network: str | None = None
        self._is_shared = False
        self._window = Alarm(timers, self._forget)

    def enter(self, connection: PlayerConnection) -> asyncio.Future[None] | None:
        """Add the next request of a connection. Its cost is not known yet, but is likely that of the one before.

        Return None if the caller may handle the request now. Otherwise return a future to wait for.
        """
        if not self._renewing:
            self._renew_soon(connection)
        network = connection.networks[0]
        if not self._is_shared:
            if self._network in (None, network):
                self._network = network
                return None
            self._is_shared = True
        if not self._waiting and self._begun < TURN and self._under_way < UNDER_WAY:
            self._begin(connection)
            return None
        earliest = self._progress - _HEAD_START
        start = max(connection.share_end, earliest)
        weight = 1 + self._waiting_by_network[network]
        connection.share_end = start + weight * connection.share_cost
        if start == earliest and self._begun < 2 * TURN and self._under_way < 2 * UNDER_WAY:
            self._begin(connection)
            return None
        if not self._window.is_set:
            self._window.set(WINDOW)
        turn = connection.socket.loop.create_future()
        self._number += 1
        self._waiting_by_network[network] += 1
        heappush(self._waiting, (connection.share_end, self._number, connection, turn))
        return turn

    def charge(self, connection: PlayerConnection, cost: int) -> None:
        """Say that the request that a connection has begun costs as much as ``cost`` moves."""
        connection.share_cost = cost
        if connection.share_held:
            self._begun += cost - connection.share_held
            self._under_way += cost - connection.share_held
            connection.share_held = cost

    def leave(self, connection: PlayerConnection) -> None:
        """Count the request of a connection as handled."""
        self._under_way = max(0, self._under_way - connection.share_held)
        connection.share_held = 0
        if self._waiting and not self._renewing:
            self._renew_soon(connection)

    def _begin(self, connection: PlayerConnection) -> None:
        connection.share_held = cost = connection.share_cost
        self._begun += cost
        self._under_way += cost

    def _renew_soon(self, connection: PlayerConnection) -> None:
        self._renewing = True
        connection.socket.loop.call_soon(self._renew)

    def _forget(self) -> None:
        self._under_way = 0
        if self._waiting:
            if not self._renewing:
                self._renew_soon(self._waiting[0][2])
            self._window.set(WINDOW)

    def _renew(self) -> None:
        """Begin the requests whose turn it is."""
        self._renewing = False
        self._begun = 0
        self._network = None
        self._is_shared = bool(self._waiting)
        while self._waiting and self._begun < TURN and self._under_way < UNDER_WAY:
            end, _, connection, turn = heappop(self._waiting)
            decrement(self._waiting_by_network, connection.networks[:1])
            if not turn.done():  # otherwise the connection was closed
                self._progress = max(self._progress, end)
                self._begin(connection)
                turn.set_result(None)

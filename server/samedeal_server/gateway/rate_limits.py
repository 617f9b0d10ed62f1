"""Rate limits of players' requests. Each connection and each address has its own limits."""

from __future__ import annotations

from typing import Final

from samedeal_server.config.limits import LiveLimits, Networks
from samedeal_server.config.token_buckets import Quotas
from samedeal_server.loop_timers import Timers
from samedeal_server.rooms.player_connection import PlayerConnection

REPLAYED_PER_MOVE: Final = 20
"""Number of replayed actions that cost as much as one move."""

SCHEDULED_ROOM_COST: Final = 10
"""Cost, in rooms, of a scheduled room, which may stay open for days."""

CONNECTION_COST: Final = 5
"""Cost, in moves, of a new connection."""

CHANGE_COST: Final = 9
"""Cost, in moves, of a ``Ping`` that changes whether the player is away, besides that of the ``Ping``."""

PASSPHRASE_COST: Final = 45
"""Cost, in moves, of hashing a passphrase. Hashing takes about as much CPU time as this many moves."""


class RateLimits:
    """Charges connections and their addresses for requests.

    A method raises RequestRefused ``rate_limited`` if a limit is exceeded, unless its docstring says otherwise.
    """

    def __init__(self, limits: LiveLimits, timers: Timers) -> None:
        self._limits = limits
        self._timers = timers
        self._quotas = Quotas(limits.current)

    def connect(self, networks: Networks, cost: int = 0) -> None:
        """Charge an address for a new connection, and for a request over it that costs as much as ``cost`` moves."""
        self._current_quotas().requests.take(networks, self._timers.monotonic(), CONNECTION_COST + cost)

    def charge_address(self, networks: Networks, cost: float) -> None:
        """Charge an address for work that a request has caused. Never raise an error."""
        self._current_quotas().requests.charge(networks, self._timers.monotonic(), cost)

    def request(self, connection: PlayerConnection, cost: int) -> float:
        """Charge for a request that costs as much as ``cost`` moves.

        Return the time in seconds that the caller must wait before it handles the request.
        """
        now = self._timers.monotonic()
        self._current_quotas().requests.take(connection.networks, now, cost)
        return connection.pace.admit(now, cost)

    def charge_replay(self, connection: PlayerConnection, actions: int) -> None:
        """Charge for the replay of ``actions`` actions.

        Never raise an error. The connection's next requests are delayed instead.
        """
        self.charge(connection, actions / REPLAYED_PER_MOVE)

    def charge(self, connection: PlayerConnection, cost: float) -> None:
        """Charge for work that a request has caused and that costs as much as ``cost`` moves.

        Never raise an error. The connection's next requests are delayed instead.
        """
        now = self._timers.monotonic()
        connection.pace.charge(now, cost)
        self._current_quotas().requests.charge(connection.networks, now, cost)

    def open_room(self, networks: Networks, *, scheduled: bool = False) -> None:
        """Charge an address for a new room. ``scheduled`` is true if the race starts at a given time."""
        cost = SCHEDULED_ROOM_COST if scheduled else 1
        self._current_quotas().rooms.take(networks, self._timers.monotonic(), cost)

    def begin_session(self, networks: Networks) -> None:
        """Charge an address and this node for a new session."""
        self._current_quotas().begin_session(networks, self._timers.monotonic())

    def _current_quotas(self) -> Quotas:
        if self._quotas.limits is not self._limits.current:
            self._quotas = Quotas(self._limits.current)
        return self._quotas

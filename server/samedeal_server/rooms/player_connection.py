"""The connection of a player, who may be in a room."""

from __future__ import annotations

from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import Pace
from samedeal_server.connections.client_socket import ClientSocket
from samedeal_server.connections.connection import Connection
from samedeal_server.loop_timers import Timers
from samedeal_server.races import refusals
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.store.sessions import Session
from samedeal_server.telemetry.metrics import Metrics


class PlayerConnection(Connection):
    """A connection of a player, who can be in one room at a time, as a racer or as a spectator.

    ``hub`` is the room that the player is in, or None. ``seat`` is None for a spectator. ``share_end``,
    ``share_held`` and ``share_cost`` belong to the queue in which requests wait for a busy node.
    """

    __slots__ = ("bot", "hub", "name", "pace", "seat", "session", "share_cost", "share_end", "share_held")

    def __init__(
        self, socket: ClientSocket, address: str, number: int, limits: Limits, metrics: Metrics, timers: Timers
    ) -> None:
        super().__init__(socket, address, number, limits, metrics, timers)
        self.pace = Pace(limits, timers.monotonic())
        self.share_end = 0.0
        self.share_held = 0
        self.share_cost = 1
        self.session: Session | None = None
        self.name = ""
        self.bot = False
        self.hub: Hub | None = None
        self.seat: SeatedPlayer | None = None

    def identify(self, session: Session, name: str, *, bot: bool) -> None:
        """Set the identity of the player, who has sent Hello."""
        self.session, self.player = session, session.player
        self.name, self.bot = name, bot

    @property
    def ids(self) -> dict[str, object]:
        """The fields that identify the connection in a log event."""
        ids: dict[str, object] = {"connection": self.number}
        if self.player:
            ids["player"] = self.player
        if self.hub is not None:
            ids["room"] = self.hub.room
        return ids

    @property
    def kind(self) -> str:
        """The kind of the connection: ``racing``, ``watching`` or ``lobby``."""
        if self.seat is not None:
            return "racing"
        return "lobby" if self.hub is None else "watching"

    def require_seat(self) -> tuple[Hub, SeatedPlayer]:
        """Return the room and the seat of the player. Raise RequestRefused ``no_seat`` if the player has no seat."""
        if self.hub is None or self.seat is None:
            raise refusals.no_seat()
        return self.hub, self.seat

    def on_caught_up(self) -> None:
        """Send the newest boards to a spectator who read too slowly and therefore missed some boards."""
        if self.hub is not None and self.seat is None:
            self.hub.boards.send_boards(self)

    def on_dismissed(self) -> None:
        """Forget the room and the seat, because the room has closed or the player was removed from it."""
        self.hub = self.seat = None

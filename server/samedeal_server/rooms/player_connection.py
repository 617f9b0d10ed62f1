"""The connection of a player, who may be in a room, with a bounded queue of outgoing frames.

Sending never blocks the caller.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from samedeal.protocol.messages import ToClient
from samedeal.protocol_codes import CloseCode
from samedeal.sentences import refused
from samedeal_server.config.limits import Limits, Networks
from samedeal_server.config.token_buckets import Pace
from samedeal_server.connections.client_socket import ClientSocket, framed
from samedeal_server.connections.handshake_admission import networks_of
from samedeal_server.loop_timers import Timer, Timers
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.store.sessions import Session
from samedeal_server.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from samedeal_server.rooms.hub import Hub

_WRITE_SIZE: Final = 16 * 1024
"""Number of bytes that are written to the socket before the node checks whether the client reads them."""

CLOSE_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for a client to read the queued frames before its connection is aborted."""


@dataclass(eq=False, repr=False, slots=True)
class PlayerConnection:
    """A connection of a player, who can be in one room at a time, as a racer or as a spectator.

    Frames that are queued in one turn of the event loop are sent together. If the queue is full, the client is
    disconnected. A spectator who reads too slowly misses some boards and then gets the newest ones.

    ``kept_session`` is the token that the page's cookie had, or empty.
    ``hub`` is the room that the player is in, or None. ``seat`` is None for a spectator. ``share_end``,
    ``share_held`` and ``share_cost`` belong to the queue in which requests wait for a busy node.
    """

    socket: ClientSocket
    address: str
    number: int
    limits: Limits
    _metrics: Metrics
    _timers: Timers
    player: str = ""
    name: str = ""
    bot: bool = False
    house: bool = False
    session: Session | None = None
    kept_session: str = ""
    hub: Hub | None = None
    seat: SeatedPlayer | None = None
    share_end: float = 0.0
    share_held: int = 0
    share_cost: int = 1
    _frames: list[tuple[bytes, float]] = field(default_factory=list)
    _awake: bool = False
    _slow: bool = False
    _lagging: bool = False
    _closing: tuple[int, str] | None = None
    _abort_timer: Timer | None = None
    networks: Networks = field(init=False)
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        self.networks = networks_of(self.address)
        self.pace = Pace(self.limits, self._timers.monotonic())
        self.socket.set_callbacks(self.wake, self._on_lost)

    def identify(self, session: Session, name: str, *, bot: bool, house: bool) -> None:
        """Set the identity of the player, who has sent Hello."""
        self.session, self.player = session, session.player
        self.name, self.bot, self.house = name, bot, house

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
            raise refused("no_seat")
        return self.hub, self.seat

    def on_caught_up(self) -> None:
        """Send the newest boards to a spectator who read too slowly and therefore missed some boards."""
        if self.hub is not None and self.seat is None:
            self.hub.boards.send_boards(self)

    def on_dismissed(self) -> None:
        """Forget the room and the seat, because the room has closed or the player was removed from it."""
        self.hub = self.seat = None

    @property
    def waiting(self) -> int:
        """The number of frames in the queue."""
        return len(self._frames)

    @property
    def closing(self) -> bool:
        """Whether this node has begun to close the connection."""
        return self._closing is not None

    @property
    def closing_code(self) -> int:
        """The code with which this node closes the connection, or 0 if this node has not begun to close it."""
        return self._closing[0] if self._closing is not None else 0

    def send(self, message: ToClient, asked: float = 0.0) -> None:
        """Queue a message and send it soon.

        If the message is the ack of a move, ``asked`` is when the node began to handle the move. Only metrics use
        this time.
        """
        self.send_frame(framed(message), asked)

    def send_frame(self, frame: bytes, asked: float = 0.0) -> None:
        """Queue an encoded frame and send it soon."""
        self.enqueue(frame, asked)
        self.wake()

    def enqueue(self, frame: bytes, asked: float = 0.0) -> None:
        """Queue an encoded frame until the next call of ``wake``. If the queue is full, disconnect the client."""
        if len(self._frames) >= self.limits.backlog:
            if not self._slow:
                self._metrics.slow_clients_disconnected.inc()
            self._slow = True
            self._frames.clear()
            self.close(CloseCode.SLOW, "you read too slowly: reconnect to resume")
        if self._slow:
            return
        self._frames.append((frame, asked))

    def enqueue_delayed(self, frames: list[bytes]) -> None:
        """Queue boards for a spectator until the next call of ``wake``.

        If the spectator reads too slowly, drop the boards.
        """
        if self._lagging or len(self._frames) + len(frames) > self.limits.late_backlog:
            if not self._lagging:
                self._metrics.spectators_skipped.inc()
            self._lagging = True
            return
        for frame in frames:
            self.enqueue(frame)

    def flush(self) -> None:
        """Send the queued frames now. Do nothing if ``wake`` has scheduled them for the next turn of the event loop."""
        if not self._awake:
            self._write()

    def wake(self) -> None:
        """Send the queued frames in the next turn of the event loop. Frames that are queued until then are sent too."""
        if not self._awake:
            self._awake = True
            self.socket.loop.call_soon(self._write)

    def close(self, code: int, reason: str) -> None:
        """Close the connection once the queue has been sent. Abort it if the client does not read the queue in time.

        Further calls change nothing.
        """
        if self._closing is None:
            self._closing = (code, reason)
            self.wake()
            self._abort_timer = self._timers.call_later(CLOSE_TIMEOUT, self.socket.transport.abort)

    def _write(self) -> None:
        """Write queued frames until the queue is empty or the write buffer is full.

        The socket calls ``wake`` when more frames can be written.
        """
        self._awake = False
        socket = self.socket
        while self._frames and socket.is_writable:
            self._write_some(socket)
        if self._frames:
            return
        if self._closing is not None:
            socket.start_close(*self._closing)
        elif self._lagging:
            self._lagging = False
            self.on_caught_up()

    def _write_some(self, socket: ClientSocket) -> None:
        """Write several queued frames in one call.

        Calling the library's ``send`` for each frame would cost several times as much.
        """
        count, size = 0, 0
        while count < len(self._frames) and size < _WRITE_SIZE:
            size += len(self._frames[count][0])
            count += 1
        batch, self._frames = self._frames[:count], self._frames[count:]
        socket.transport.write(b"".join([frame for frame, _ in batch]) if count > 1 else batch[0][0])
        for _, asked in batch:
            if asked:
                self._metrics.ack_seconds.observe(time.perf_counter() - asked)

    def _on_lost(self) -> None:
        self._frames.clear()
        if self._abort_timer is not None:
            self._abort_timer.cancel()

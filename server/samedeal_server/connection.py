"""One client's connection, as rooms see it: something that can be told things, in order, and never blocks anybody."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed, ConnectionClosedError
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from samedeal.errors import Refused
from samedeal.play import Play
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Close, ToClient
from samedeal_server.door import network_of
from samedeal_server.limits import Pace
from samedeal_server.metrics import Metrics
from samedeal_server.receipts import START
from samedeal_server.sessions import Session

if TYPE_CHECKING:
    from samedeal_server.hub import Hub

_SENT_AT_ONCE: Final = 16 * 1024
"""Bytes after which it is looked whether the client takes them."""

_PATIENCE: Final = 5.0
"""Seconds in which a client has to take what waits for it, and its close."""


def framed(message: ToClient) -> bytes:
    """A message as it goes over the wire, in a frame; a server masks none, so that it is the same for every client."""
    return Frame(Opcode.BINARY, encode(message)).serialize(mask=False)


class Seat:
    """A connected player's place in a room: the generation under which it may commit, and the board.

    ``play`` is None before the deal, and when an outcome is not known so that the log has to be read again. ``chain`` is
    what receipts are made of, as far as ``play`` has come.
    """

    def __init__(self, hub: Hub, player: str, generation: int) -> None:
        self.hub = hub
        self.player = player
        self.generation = generation
        self.play: Play | None = None
        self.chain = START
        self.loading = asyncio.Lock()


class Connection:
    """A client. Frames wait in a bounded queue; who does not read them is cut, or, watching, skips to a snapshot."""

    def __init__(
        self,
        socket: ServerConnection,
        address: str,
        number: int,
        backlog: int,
        late_backlog: int,
        metrics: Metrics,
        pace: Pace,
    ) -> None:
        self.socket = socket
        self.address = address
        self.network = network_of(address)
        self.number = number
        self.pace = pace
        self.session: Session | None = None
        self.player = ""
        self.name = ""
        self.seat: Seat | None = None
        self.watching: Hub | None = None
        self.lagging = False
        self._backlog = backlog
        self._late_backlog = late_backlog
        self._metrics = metrics
        self._frames: deque[tuple[bytes, float]] = deque()
        self._wake = asyncio.Event()
        self._slow = False
        self._closing: tuple[int, str] | None = None
        self._cut: asyncio.TimerHandle | None = None

    @property
    def ids(self) -> dict[str, object]:
        """What a line in the log names it by."""
        hub = self.seat.hub if self.seat is not None else self.watching
        named = {"player": self.player, "room": hub.room if hub is not None else ""}
        return {"connection": self.number} | {name: value for name, value in named.items() if value}

    @property
    def seated(self) -> Seat:
        """The seat that it has. Raises Refused ``no_seat``."""
        if self.seat is None:
            raise Refused("no_seat", "You have no seat in a room: join one first")
        return self.seat

    @property
    def kind(self) -> str:
        """What it is here for, one of ``metrics.KINDS``."""
        if self.seat is not None:
            return "racing"
        return "lobby" if self.watching is None else "watching"

    @property
    def waiting(self) -> int:
        """How many frames wait to be sent."""
        return len(self._frames)

    def tell(self, message: ToClient, asked: float = 0.0) -> None:
        """Send a message when its turn comes; ``asked`` is when the move that it acks was read, where it acks one."""
        self.tell_frame(framed(message), asked)

    def tell_frame(self, frame: bytes, asked: float = 0.0) -> None:
        """Send a framed message when its turn comes; a client that is too far behind is cut and may come back."""
        self.hold(frame, asked)
        self._wake.set()

    def hold(self, frame: bytes, asked: float = 0.0) -> None:
        """As ``tell_frame``, but to be sent when it is woken."""
        if len(self._frames) >= self._backlog:
            if not self._slow:
                self._metrics.slow_cut.inc()
            self._slow = True
            self._frames.clear()
            self.shut(Close.SLOW, "too slow: come back and resume")
        if self._slow:
            return
        self._frames.append((frame, asked))

    def tell_late(self, frames: list[bytes]) -> None:
        """Have what spectators see sent once it is woken, or skip it when it is behind; then it gets a snapshot."""
        if self.lagging or len(self._frames) + len(frames) > self._late_backlog:
            if not self.lagging:
                self._metrics.skipped.inc()
            self.lagging = True
            return
        for frame in frames:
            self.hold(frame)

    def wake(self) -> None:
        """Send what waits."""
        self._wake.set()

    def shut(self, code: int, reason: str) -> None:
        """Close once what waits is sent, and cut who doesn't take it; the first reason given stands."""
        if self._closing is None:
            self._closing = (code, reason)
            self._wake.set()
            self._cut = asyncio.get_running_loop().call_later(_PATIENCE, self.socket.transport.abort)

    @property
    def shutting(self) -> bool:
        """Whether it is about to be closed."""
        return self._closing is not None

    async def write(self) -> None:
        """Send what is told, until the connection ends."""
        try:
            while True:
                while self._frames:
                    await self._send()
                if self._closing is not None:
                    await self.socket.close(*self._closing)
                    return
                if self.lagging and self.watching is not None:
                    self.lagging = False
                    self.watching.show_boards(self)
                    continue
                self._wake.clear()
                await self._wake.wait()
        except (ConnectionClosed, OSError):
            pass
        finally:
            if self._cut is not None:
                self._cut.cancel()

    async def _send(self) -> None:
        """Send some of what waits in one go: to have the library frame and send each costs several times as much.

        Raises ConnectionClosed or OSError.
        """
        socket = self.socket
        if socket.state is not State.OPEN or socket.transport.is_closing():
            await socket.wait_closed()
            raise ConnectionClosedError(None, None)
        some, size = [], 0
        while self._frames and size < _SENT_AT_ONCE:
            some.append(self._frames.popleft())
            size += len(some[-1][0])
        socket.transport.write(b"".join([frame for frame, _ in some]))
        await socket.drain()
        for _, asked in some:
            if asked:
                self._metrics.ack.observe(time.perf_counter() - asked)

"""The network of a world: connections whose bytes arrive in order, late, or never.

A connection has a pipe in each direction. Bytes of different connections overtake each other.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Literal

from tests.simulation.loop import HOST, Host, SimulatedLoop

MUCH_LONGER: Final = 20
"""How many times as long as usual some bytes take at most."""

_HIGH_WATER: Final = 65_536
"""Number of bytes on the way from which on a sender has to wait."""

_LOW_WATER: Final = 16_384

Mark = Literal["end", "reset"]
"""What a pipe carries besides bytes: the end of the stream, or that the other end was aborted."""


class Pipe:
    """One direction of a connection. ``blocked_until`` is a time of the loop. A pipe that ``loses`` bytes tells nobody."""

    def __init__(self, network: Network, sender: Transport, receiver: Transport) -> None:
        self.sender = sender
        self.receiver = receiver
        self.size = 0
        self.blocked_until = 0.0
        self.loses = False
        self._network = network
        self._queue: deque[tuple[float, bytes | Mark]] = deque()
        self._newest = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def put(self, item: bytes | Mark) -> None:
        """Send bytes or a mark."""
        self._newest = max(self._newest, self._network.loop.time() + self._network.latency())
        self._queue.append((self._newest, item))
        self.size += len(item) if isinstance(item, bytes) else 0
        self.schedule()

    def drop(self) -> None:
        """Drop everything that is on the way."""
        self._queue.clear()
        self.size = 0

    def schedule(self) -> None:
        """Deliver the next item when it is due, unless the receiver has stopped reading."""
        if self._timer is None and self._queue and not self.receiver.is_paused:
            when = max(self._queue[0][0], self.blocked_until)
            self._timer = self._network.loop.call_at(when, self._deliver, context=self.receiver.context)

    def _deliver(self) -> None:
        self._timer = None
        if self._queue and not self.receiver.is_paused and self._network.loop.time() >= self.blocked_until:
            _, item = self._queue.popleft()
            if isinstance(item, bytes):
                self.size -= len(item)
            if not self.loses:
                self._network.loop.note(f"{self.sender.name}>{self.receiver.name}", item)
                self.receiver.take(item)
            self.sender.on_delivered()
        self.schedule()


class Transport(asyncio.Transport):
    """One end of a connection, on a host."""

    peer: Transport
    outgoing: Pipe
    incoming: Pipe

    def __init__(self, network: Network, host: Host, name: str, port: int, peer_port: int) -> None:
        addresses = {"sockname": ("127.0.0.1", port), "peername": ("127.0.0.1", peer_port)}
        super().__init__(addresses)
        self.host = host
        self.name = name
        self.context = host.context.copy()
        self.is_paused = False
        self.is_lost = False
        self._network = network
        self.loop = network.loop
        self._protocol: Any = None
        self._is_closing = False
        self._has_ended = False
        self._writing_paused = False
        self._high, self._low = _HIGH_WATER, _LOW_WATER

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol  # type: ignore[no-any-return]  # any protocol

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return not self.is_paused

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False
        self.incoming.schedule()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = _HIGH_WATER if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        return self.outgoing.size

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or self._has_ended or not data:
            return
        self.outgoing.put(bytes(data))
        if self.outgoing.size > self._high and not self._writing_paused:
            self._writing_paused = True
            self._protocol.pause_writing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self._has_ended and not self._is_closing:
            self._has_ended = True
            self.outgoing.put("end")

    def close(self) -> None:
        if not self._is_closing:
            self.write_eof()
            self._is_closing = True
            self.on_delivered()

    def abort(self) -> None:
        if not self.is_lost and not self._network.is_down:
            self.outgoing.drop()
            self.outgoing.put("reset")
        self._lose(None)

    def take(self, item: bytes | Mark) -> None:
        """Receive bytes or a mark."""
        if item == "reset":
            self._lose(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))
        elif self._is_closing:
            if isinstance(item, bytes):  # nobody reads them any more
                self.outgoing.put("reset")
        elif item == "end":
            if not self._protocol.eof_received():
                self.close()
        else:
            self._protocol.data_received(item)

    def on_delivered(self) -> None:
        """Let the protocol write again if enough bytes have arrived, or end the connection if it was closed."""
        if self._writing_paused and self.outgoing.size <= self._low and not self.is_lost:
            self._writing_paused = False
            self._network.loop.call_soon(self._protocol.resume_writing, context=self.context)
        if self._is_closing and self.outgoing.size <= self._low:
            self._lose(None)

    def _lose(self, error: Exception | None) -> None:
        self._is_closing = True
        if not self.is_lost:
            self.is_lost = True
            self.incoming.drop()
            if self._protocol is not None:
                self._network.loop.call_soon(self._protocol.connection_lost, error, context=self.context)
            self._network.forget(self)


class Listener(asyncio.AbstractServer):
    """A server that listens on a port, and its only socket."""

    family = socket.AF_INET

    def __init__(self, network: Network, factory: Callable[[], Any], host: Host, port: int) -> None:
        self.host = host
        self.port = port
        self.sockets = (self,)
        self._network = network
        self._factory = factory

    def getsockname(self) -> tuple[str, int]:
        """Return the address, as a socket does."""
        return "127.0.0.1", self.port

    def accept(self, transport: Transport) -> None:
        """Serve a connection, unless it was lost while it waited for that."""
        if transport.is_lost:
            return
        transport.set_protocol(protocol := self._factory())
        protocol.connection_made(transport)
        transport.resume_reading()

    def close(self) -> None:
        self._network.listeners.pop(self.port, None)

    def get_loop(self) -> SimulatedLoop:
        return self._network.loop

    def is_serving(self) -> bool:
        return self.port in self._network.listeners

    async def serve_forever(self) -> None:
        """Do nothing: nobody calls this."""

    async def wait_closed(self) -> None:
        """Return at once, as in Python 3.11."""

    async def start_serving(self) -> None:
        """Do nothing: it serves already."""


class Network:
    """All connections of a world. ``slowest`` is the maximum time in seconds that bytes usually take."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.listeners: dict[int, Listener] = {}
        self.connections: list[Transport] = []
        self.slowest = 0.002
        self.is_down = False
        self._random = loop.random
        self._ports = 20_000
        self._made = 0
        loop.network = self

    def latency(self) -> float:
        """Return how long some bytes take: usually less than ``slowest``, and sometimes much longer."""
        if not self.slowest:
            return 0.0
        return self.slowest * (
            self._random.random() if self._random.random() < 0.98 else self._random.uniform(1, MUCH_LONGER)
        )

    def listen(self, factory: Callable[[], Any], port: int) -> Listener:
        """Listen on a port of the running host, or on a free one."""
        if port in self.listeners:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        port = port or self._new_port()
        self.listeners[port] = listener = Listener(self, factory, HOST.get(), port)
        return listener

    async def connect(self, factory: Callable[[], Any], port: int) -> tuple[Transport, Any]:
        """Connect the running host to a port."""
        host = HOST.get()
        await asyncio.sleep(self.latency())
        listener = self.listeners.get(port)
        if listener is None or self.is_down:
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed ('127.0.0.1', {port})")
        self._made += 1
        own_port = self._new_port()
        near = Transport(self, host, f"{host.name}.{self._made}", own_port, port)
        far = Transport(self, listener.host, f"{listener.host.name}.{self._made}", port, own_port)
        near.peer, far.peer = far, near
        near.outgoing = far.incoming = Pipe(self, near, far)
        near.incoming = far.outgoing = Pipe(self, far, near)
        far.is_paused = True  # until it is accepted
        self.connections += (near, far)
        protocol = factory()
        near.set_protocol(protocol)
        protocol.connection_made(near)
        self.loop.call_later(self.latency(), listener.accept, far, context=far.context)
        return near, protocol

    def between(self, *names: str) -> list[Transport]:
        """Return the ends, on the first host, of the connections to the second one. Their names are prefixes."""
        near, far = names
        return [
            end
            for end in self.connections
            if end.host.name.startswith(near) and end.peer.host.name.startswith(far) and not end.is_lost
        ]

    def disconnect(self, host: Host) -> None:
        """Reset all connections of a host whose process was killed, and close its listeners."""
        for listener in [each for each in self.listeners.values() if each.host is host]:
            listener.close()
        for end in [each for each in self.connections if each.host is host]:
            end.outgoing.put("reset")
            self.forget(end)

    def forget(self, end: Transport) -> None:
        """Forget the lost end of a connection."""
        if end in self.connections:
            self.connections.remove(end)

    def _new_port(self) -> int:
        self._ports += 1
        return self._ports

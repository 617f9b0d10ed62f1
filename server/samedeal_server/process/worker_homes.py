"""Homes of rooms among the workers of a server: a racer's connection is handed to the worker that is the room's home.

The kernel gives a new connection to any worker. If its path is ``/r/ROOM``, this worker sends the connection and its
handshake request over a Unix socket to the home of the room, which answers. Homes are on as many workers as the
connections need, because a move costs less on a worker that has many. If a home has more than its share of the
connections, the room has a second home. If the home does not run, or does not take the connection in time, the worker
serves it itself. A worker that is drained is the home of no room. With TLS, each connection stays where it is, because
nobody else has its keys.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import mmap
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal_server.connections.client_socket import LARGEST_REQUEST, ClientSocket
from samedeal_server.page.files import is_handshake

VARIABLE: Final = "SAMEDEAL_WORKER"
"""The environment variable with the number of a worker, how many there are, and the directory of their sockets."""

_PREFIX: Final = "/r/"
_ENOUGH: Final = 3_000
"""Number of connections for which one worker is enough: with a move every two seconds each, it uses half of a core."""

_MAX_SHARE: Final = 1.25
_MORE_CONNECTIONS: Final = 16
"""Maximum number of a worker's connections as a home, as a multiple of its share, and how many more are allowed."""

_NUMBER_BYTES: Final = 4
_ATTEMPTS: Final = 20
_INTERVAL: Final = 0.01

HttpAnswer = Response | Awaitable[Response | None] | None


@dataclass(frozen=True)
class WorkerHomes:
    """The homes of rooms, as the worker ``number`` of ``count`` sees them.

    ``directory`` has the workers' sockets, and a file that the workers share. In this file, ``loads`` has the number of
    connections of each worker, and ``drained`` is 1 for each worker that is drained. ``enough`` is the number of
    connections for which one worker is enough.
    """

    directory: Path
    number: int
    count: int
    enough: int = _ENOUGH
    loads: memoryview[int] = field(init=False)
    drained: memoryview[int] = field(init=False)

    def __post_init__(self) -> None:
        with (self.directory / "loads").open("a+b") as file:
            file.truncate(2 * _NUMBER_BYTES * self.count)
            shared = memoryview(mmap.mmap(file.fileno(), 0)).cast("I")
        object.__setattr__(self, "loads", shared[: self.count])
        object.__setattr__(self, "drained", shared[self.count :])
        # The same worker may have been here before it crashed.
        self.loads[self.number - 1] = self.drained[self.number - 1] = 0

    @classmethod
    def of_this_worker(cls, limit: int) -> Self:
        """Return the homes that the environment variable describes. ``limit`` is that of a worker's connections."""
        number, count, directory = os.environ[VARIABLE].split(":", 2)
        return cls(Path(directory), int(number), int(count), min(_ENOUGH, max(1, limit // 2)))

    def home(self, path: str) -> int:
        """Return the number of the worker at which a connection with this path is served."""
        room = path.partition("?")[0]
        serving = [at for at in range(self.count) if not self.drained[at]]
        if not room.startswith(_PREFIX) or not serving:
            return self.number
        total = sum(self.loads[at] for at in serving)
        weights = {at: min(1.0, max(0.0, (total + 1) / self.enough - before)) for before, at in enumerate(serving)}
        share = _MAX_SHARE * total / sum(weights.values())
        # Rendezvous hashing: when the weight of a worker grows, only rooms for this worker get another home.
        ranked = sorted(serving, key=lambda at: weights[at] / -math.log(_draw(room, at)), reverse=True)
        return next(at for at in ranked if self.loads[at] < share * weights[at] + _MORE_CONNECTIONS) + 1

    def give_away(self) -> None:
        """Let other workers be the homes of rooms, because this worker is drained."""
        self.drained[self.number - 1] = 1

    def counted(self, serve: Callable[[ClientSocket], Awaitable[None]]) -> Callable[[ClientSocket], Awaitable[None]]:
        """Return a function that counts the connections while ``serve`` serves them."""

        async def serve_counted(connection: ClientSocket) -> None:
            self.loads[self.number - 1] += 1
            try:
                await serve(connection)
            finally:
                self.loads[self.number - 1] -= 1

        return serve_counted

    def route(
        self, process_request: Callable[[ClientSocket, Request], HttpAnswer]
    ) -> Callable[[ClientSocket, Request], HttpAnswer]:
        """Return a function that hands connections over, and calls ``process_request`` for those that stay."""

        async def hand_over_or_process(connection: ClientSocket, request: Request) -> Response | None:
            if await self._hand_over(connection, request):
                return Response(503, "", Headers())  # goes nowhere: this process has closed its end
            answer = process_request(connection, request)
            return await answer if isinstance(answer, Awaitable) else answer

        def route(connection: ClientSocket, request: Request) -> HttpAnswer:
            is_here = self.home(request.path) == self.number or not is_handshake(request)
            if is_here or connection.transport.get_extra_info("sslcontext") is not None or connection.has_frames:
                return process_request(connection, request)
            return hand_over_or_process(connection, request)

        return route

    async def _hand_over(self, connection: ClientSocket, request: Request) -> bool:
        """Hand a connection over to its home. Return False if the home does not take it."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
            sender.settimeout(0)
            sender.connect(str(self._socket(self.home(request.path))))
            for _ in range(_ATTEMPTS):
                if connection.transport.is_closing():
                    return False
                descriptor = connection.transport.get_extra_info("socket").fileno()
                try:
                    socket.send_fds(sender, [request.serialize()], [descriptor])
                except BlockingIOError:  # its queue is full
                    await asyncio.sleep(_INTERVAL)
                    continue
                connection.hand_over()
                await connection.connection_lost_waiter
                return True
        return False

    @asynccontextmanager
    async def receiving(self, connect: Callable[[], ClientSocket]) -> AsyncIterator[None]:
        """Serve the connections that other workers hand over. ``connect`` returns the protocol for a connection."""
        loop = asyncio.get_running_loop()
        tasks: set[asyncio.Task[None]] = set()

        async def serve(accepted: socket.socket, request: bytes) -> None:
            connection = connect()
            with suppress(OSError):  # the client is gone
                await loop.connect_accepted_socket(lambda: connection, accepted)
                connection.data_received(request)

        def receive() -> None:
            with suppress(BlockingIOError):
                while True:
                    request, descriptors, _, _ = socket.recv_fds(receiver, LARGEST_REQUEST, 1)
                    for descriptor in descriptors:
                        accepted = socket.socket(fileno=descriptor)
                        accepted.settimeout(0)
                        task = asyncio.create_task(serve(accepted, request))
                        tasks.add(task)
                        task.add_done_callback(tasks.discard)

        path = self._socket(self.number)
        path.unlink(missing_ok=True)  # of the same worker before it crashed
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
            receiver.settimeout(0)
            receiver.bind(str(path))
            loop.add_reader(receiver, receive)
            try:
                yield
            finally:
                loop.remove_reader(receiver)
                path.unlink(missing_ok=True)

    def _socket(self, number: int) -> Path:
        return self.directory / str(number)


def _draw(room: str, worker: int) -> float:
    """Return a number between 0 and 1 that follows from a room and a worker, as if it were random."""
    digest = hashlib.sha256(f"{worker} {room}".encode()).digest()
    return (int.from_bytes(digest[:6]) + 0.5) / 2**48

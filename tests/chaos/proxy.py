"""A TCP proxy for the path to nodes or to Redis, with faults: close, reset, stall, drop answers, delay, split."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self
from zlib import crc32

from samedeal_server.tasks import cancel_and_wait

Target = tuple[str, int] | str
"""A host and a port, or the path of a Unix socket."""

_READ = 65_536


class ProxiedConnection:
    """One connection through the proxy."""

    def __init__(self, writers: Sequence[asyncio.StreamWriter], path: str = "") -> None:
        self._writers = writers
        self._path = path.encode()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._stall_end: asyncio.TimerHandle | None = None
        self._latency = 0.0
        self._piece = 0
        self._drops_answers = False

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        """Forward bytes in one direction until the end of the stream or a reset, which is forwarded too.

        Bytes that were stalled are forwarded afterwards, even if their sender has disconnected.
        """
        try:
            while data := await reader.read(_READ):
                await self._flowing.wait()
                if answers and self._drops_answers:
                    continue
                if self._path and data.startswith(b"GET "):
                    data = data.replace(b" %b/" % self._path, b" /", 1)
                if self._latency:
                    await asyncio.sleep(self._latency)
                for start in range(0, len(data), size := self._piece or len(data)):
                    writer.write(data[start : start + size])
                    await writer.drain()
                    if self._piece:
                        await asyncio.sleep(0)
            await self._flowing.wait()
            writer.write_eof()
        except OSError:
            await self._flowing.wait()
            self.reset()

    def close(self) -> None:
        """Close both ends."""
        for writer in self._writers:
            writer.close()

    def reset(self) -> None:
        """Reset both ends. Bytes in flight are lost."""
        for writer in self._writers:
            if (sock := writer.get_extra_info("socket")) is not None and sock.fileno() >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def stall(self, seconds: float) -> None:
        """Forward nothing for some seconds."""
        self._flowing.clear()
        if self._stall_end is not None:
            self._stall_end.cancel()
        self._stall_end = asyncio.get_running_loop().call_later(seconds, self._flowing.set)

    def drop_answers(self, seconds: float) -> None:
        """Drop all answers for some seconds, then reset the connection."""
        self._drops_answers = True
        asyncio.get_running_loop().call_later(seconds, self.reset)

    def delay(self, seconds: float) -> None:
        """Delay every read from now on."""
        self._latency = seconds

    def split(self, size: int, seconds: float) -> None:
        """Forward bytes in pieces of a size for some seconds."""
        self._piece = size
        asyncio.get_running_loop().call_later(seconds, self._stop_splitting)

    def _stop_splitting(self) -> None:
        self._piece = 0


class Proxy:
    """Accepts connections and forwards them to the targets in turn, skipping targets that are unreachable.

    If ``homes`` is true, connections at the path of a room's home go to a target that depends on the path and on all
    targets. The proxy removes ``path`` from requests.
    """

    path = ""

    def __init__(self, targets: Callable[[], Sequence[Target]], *, homes: bool = False) -> None:
        self.port = 0
        self.connections: list[ProxiedConnection] = []
        self._targets = targets
        self._homes = homes
        self._next_target = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        await cancel_and_wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        first = await reader.read(_READ) if self._homes else b""
        there = await self._dial(first)
        if there is None:
            writer.transport.abort()
            return
        there[1].write(first)
        wire = ProxiedConnection((writer, there[1]), self.path)
        self.connections.append(wire)
        try:
            await asyncio.gather(wire.pump(reader, there[1], answers=False), wire.pump(there[0], writer, answers=True))
        except asyncio.CancelledError:
            wire.reset()
        finally:
            self.connections.remove(wire)
            wire.close()

    async def _dial(self, first: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        self._next_target += 1
        targets = deque(self._targets())
        targets.rotate(-self._next_target)
        request = first.partition(b" HTTP")[0]
        if request.startswith(b"GET /r/"):
            targets = deque(sorted(targets, key=lambda target: crc32(request + repr(target).encode())))
        for target in targets:
            with suppress(OSError):
                if isinstance(target, str):
                    return await asyncio.open_unix_connection(target)
                return await asyncio.open_connection(*target)
        return None

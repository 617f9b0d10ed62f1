"""A proxy, between clients and nodes and between nodes and Redis, that can cut, reset, stall, delay and split."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

Target = tuple[str, int] | str
"""A host and a port, or the path of a Unix socket."""

_READ = 65_536


class Wire:
    """One connection through the proxy."""

    def __init__(self, writers: Sequence[asyncio.StreamWriter]) -> None:
        self._writers = writers
        self._open = asyncio.Event()
        self._open.set()
        self._thaw: asyncio.TimerHandle | None = None
        self._latency = 0.0
        self._piece = 0
        self._swallows = False

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        """Pass bytes on, or answers to them, until there are no more, and a reset too.

        What a stall holds arrives after it, even when its sender is gone.
        """
        try:
            while data := await reader.read(_READ):
                await self._open.wait()
                if answers and self._swallows:
                    continue
                if self._latency:
                    await asyncio.sleep(self._latency)
                for start in range(0, len(data), size := self._piece or len(data)):
                    writer.write(data[start : start + size])
                    await writer.drain()
                    if self._piece:
                        await asyncio.sleep(0)
            await self._open.wait()
            writer.write_eof()
        except OSError:
            await self._open.wait()
            self.reset()

    def cut(self) -> None:
        """Close both ends."""
        for writer in self._writers:
            writer.close()

    def reset(self) -> None:
        """Close both ends with a reset: what was under way is lost."""
        for writer in self._writers:
            if (sock := writer.get_extra_info("socket")) is not None and sock.fileno() >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def stall(self, seconds: float) -> None:
        """Hold everything for a while."""
        self._open.clear()
        if self._thaw is not None:
            self._thaw.cancel()
        self._thaw = asyncio.get_running_loop().call_later(seconds, self._open.set)

    def swallow(self, seconds: float) -> None:
        """Pass on what is asked and lose what is answered, for a while; then reset."""
        self._swallows = True
        asyncio.get_running_loop().call_later(seconds, self.reset)

    def delay(self, seconds: float) -> None:
        """Have every read take that much longer, for good."""
        self._latency = seconds

    def split(self, size: int, seconds: float) -> None:
        """Pass bytes on in pieces of a size, for a while."""
        self._piece = size
        asyncio.get_running_loop().call_later(seconds, self._whole)

    def _whole(self) -> None:
        self._piece = 0


class Proxy:
    """Takes connections and passes them to the targets, each in its turn; one that does not answer is passed over."""

    def __init__(self, targets: Callable[[], Sequence[Target]]) -> None:
        self.port = 0
        self.wires: list[Wire] = []
        self._targets = targets
        self._turn = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        there = await self._dial()
        if there is None:
            writer.transport.abort()
            return
        wire = Wire((writer, there[1]))
        self.wires.append(wire)
        try:
            await asyncio.gather(wire.pump(reader, there[1], answers=False), wire.pump(there[0], writer, answers=True))
        except asyncio.CancelledError:
            wire.reset()
        finally:
            self.wires.remove(wire)
            wire.cut()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        targets = self._targets()
        for _ in targets:
            self._turn += 1
            with suppress(OSError):
                target = targets[self._turn % len(targets)]
                if isinstance(target, str):
                    return await asyncio.open_unix_connection(target)
                return await asyncio.open_connection(*target)
        return None

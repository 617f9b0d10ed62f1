"""A proxy between clients and a server that can stall, drop and restore connections."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import Self
from urllib.parse import urlsplit

from samedeal_link.first_completed import first_of


class Proxy:
    """Forwards bytes between clients and ``target``, the URL of a server, which tests may change.

    The proxy removes ``path`` from requests.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.path = ""
        self.url = ""
        self.port = 0
        self._open = asyncio.Event()
        self._open.set()
        self._accepts = True
        self._drops_answers = False
        self._answer_dropped = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.url = f"ws://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def stall(self) -> None:
        """Stop forwarding in both directions without closing connections."""
        self._open.clear()

    def drop_answers(self) -> None:
        """Forward what clients send, and drop the answers."""
        self._drops_answers = True

    async def wait_for_dropped_answer(self) -> None:
        """Wait until an answer was dropped."""
        async with asyncio.timeout(10):
            await self._answer_dropped.wait()

    async def cut(self) -> None:
        """Cut all connections and accept no new ones."""
        self._accepts = False
        for writer in list(self._writers):
            writer.transport.abort()

    def reset(self) -> None:
        """End all connections with a reset, as a machine does that has lost its memory."""
        for writer in list(self._writers):
            lingering = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
            writer.transport.abort()

    def close_half(self) -> None:
        """Send the server the end of the data on all connections, and still forward what it sends."""
        for writer in list(self._writers):
            if writer.get_extra_info("peername")[1] == urlsplit(self.target).port:
                writer.write_eof()

    def restore(self) -> None:
        """Accept connections and forward everything again."""
        self._accepts = True
        self._drops_answers = False
        self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with self._cut_at_the_end(writer), contextlib.suppress(OSError):
            if not self._accepts:
                return
            target = urlsplit(self.target)
            far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
            asked = self._pass(reader, far_writer, answers=False)
            answered = self._pass(far_reader, writer, answers=True)
            with self._cut_at_the_end(far_writer):
                async with first_of(asked, answered):
                    pass

    @contextlib.contextmanager
    def _cut_at_the_end(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        self._writers.add(writer)
        try:
            yield
        finally:
            writer.transport.abort()
            self._writers.discard(writer)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # asyncio raises RuntimeError for a half that is closed
            while data := await reader.read(65536):
                await self._open.wait()
                if answers and self._drops_answers:
                    self._answer_dropped.set()
                    continue
                below = f" {self.path}/".encode()
                writer.write(data.replace(below, b" /", 1) if self.path and data.startswith(b"GET ") else data)
                await writer.drain()

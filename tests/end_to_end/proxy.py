"""A network between clients and a server that can be stalled, cut and mended."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes between clients and ``target``, the URL of a server, which may be changed."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.url = ""
        self._open = asyncio.Event()
        self._open.set()
        self._mended = True
        self._swallow = False
        self._swallowed = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
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
        """Pass nothing on any more, in either direction, without a word."""
        self._open.clear()

    def swallow_answers(self) -> None:
        """Go on passing what clients say, and lose what they are told."""
        self._swallow = True

    async def swallowed(self) -> None:
        """Wait until an answer was lost."""
        async with asyncio.timeout(10):
            await self._swallowed.wait()

    async def cut(self) -> None:
        """Cut all connections, and take no new one."""
        self._mended = False
        for writer in list(self._writers):
            writer.transport.abort()

    def mend(self) -> None:
        """Be a network again."""
        self._mended = True
        self._swallow = False
        self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._writers.add(writer)
        with contextlib.suppress(OSError):
            if self._mended:
                where = urlsplit(self.target)
                far_reader, far_writer = await asyncio.open_connection(where.hostname, where.port)
                self._writers.add(far_writer)
                try:
                    await asyncio.wait(
                        [
                            asyncio.create_task(self._pass(reader, far_writer, answers=False)),
                            asyncio.create_task(self._pass(far_reader, writer, answers=True)),
                        ],
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                finally:
                    far_writer.transport.abort()
                    self._writers.discard(far_writer)
        writer.transport.abort()
        self._writers.discard(writer)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._open.wait()
                if answers and self._swallow:
                    self._swallowed.set()
                    continue
                writer.write(data)
                await writer.drain()

"""A Redis process that a test can kill and restart with its data."""

from __future__ import annotations

import asyncio
from pathlib import Path

from samedeal_server.embedded_redis.binary import find_redis_binary
from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.connect import connect
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.server.client import DEADLINE


class OwnRedis:
    """A Redis process in a directory. Killing it keeps its data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = directory / "r.sock"
        self.url = f"unix://{self.socket}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it answers. Each write is on disk before it is answered."""
        options = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.directory), "--save", ""]
        options += ["--appendonly", "yes", "--appendfsync", "always"]
        binary = str(find_redis_binary().path)
        self._process = await asyncio.create_subprocess_exec(binary, *options, stdout=asyncio.subprocess.DEVNULL)
        async with asyncio.timeout(DEADLINE), connect(self.url) as redis:
            while True:
                try:
                    await Store(redis, Metrics()).now()
                except StoreUnavailable:
                    await asyncio.sleep(0.01)
                else:
                    return

    async def kill(self) -> None:
        """Kill it."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

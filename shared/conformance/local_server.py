"""A server of the kit's own, on this machine, whose store the kit may damage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.process.app import build
from samedeal_server.telemetry import logs


@asynccontextmanager
async def local_server() -> AsyncIterator[tuple[str, str]]:
    """Run a server until the ``async with`` block ends. Yield its address and that of its Redis."""
    with TemporaryDirectory() as folder:
        async with EmbeddedRedis(Path(folder), "everysec") as redis:
            config = Config(port=0, redis=redis, log_level="error")
            logs.set_up(config, "conformance")
            async with build(config, "conformance", asyncio.Event()) as node:
                try:
                    yield node.addresses.local, redis
                finally:
                    await node.gateway.drain()

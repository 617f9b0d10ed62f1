"""The price of a move on Colyseus, with and without a Redis. npm installs Colyseus into ``build/peers``."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tests.bench.move_price import Price, Scenario, Sender, child_process, echo_sender, python
from tests.load.processes import load_setup

_SOURCES: Final = Path(__file__).parent
_INSTALLED: Final = Path("build/peers")
_SERVER: Final = "colyseus.mjs"


async def install() -> str:
    """Install Colyseus. Return an empty string, or the reason why that is impossible."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "there is no npm"
    _INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", _SERVER):
        shutil.copy(_SOURCES / name, _INSTALLED)
    # Without --legacy-peer-deps, npm also wants transports that we do not use, one of which is not in its registry.
    options = ("--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error")
    process = await asyncio.create_subprocess_exec(
        npm, "install", *options, cwd=_INSTALLED, stdout=asyncio.subprocess.DEVNULL
    )
    return "npm could not install it" if await process.wait() else ""


async def measure_colyseus(scenario: Scenario, rounds: int, seconds: float, *, stored: bool) -> Price:
    """Measure a scenario as ``move_price.measure`` does. ``stored`` says whether Redis has a move before it is acked."""
    async with AsyncExitStack() as stack:
        setup = await stack.enter_async_context(load_setup())
        await setup.redis.do("CONFIG", "SET", "appendfsync", "everysec")
        redis = [setup.redis.socket] if stored else []
        server = await stack.enter_async_context(
            child_process("node", str(_INSTALLED / _SERVER), *redis, errors=asyncio.subprocess.DEVNULL)
        )
        assert server.stdout is not None
        while not (line := await server.stdout.readline()).strip().isdigit():
            assert line, "Colyseus did not start"
        url = f"ws://127.0.0.1:{int(line)}"
        arguments = python("tests.bench.peers.colyseus_sender", url, str(scenario.clients))
        racing = await stack.enter_async_context(Sender.start(server.pid, *arguments))
        echoing = await stack.enter_async_context(echo_sender(scenario.clients, seed=1))
        return await Price.measure(scenario, racing, echoing, rounds, seconds)

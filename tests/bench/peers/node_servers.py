"""The price of a move on servers for Node.js: Colyseus, with and without a Redis, and boardgame.io.

npm installs them into ``build/peers``.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tests.bench.move_price import Price, Scenario, Sender, child_process, echo_sender, python
from tests.load.processes import load_setup

SERVERS: Final = ("colyseus", "boardgame_io")

_SOURCES: Final = Path(__file__).parent
_INSTALLED: Final = Path("build/peers")


async def install() -> str:
    """Install all servers. Return an empty string, or the reason why that is impossible."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "there is no npm"
    _INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", *(f"{server}.mjs" for server in SERVERS)):
        shutil.copy(_SOURCES / name, _INSTALLED)
    # Without --legacy-peer-deps, npm also wants transports that we do not use, one of which is not in its registry.
    options = ("--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error")
    process = await asyncio.create_subprocess_exec(
        npm, "install", *options, cwd=_INSTALLED, stdout=asyncio.subprocess.DEVNULL
    )
    return "npm could not install them" if await process.wait() else ""


async def measure_server(server: str, scenario: Scenario, rounds: int, seconds: float, *, stored: bool) -> Price:
    """Measure a scenario as ``move_price.measure`` does.

    ``server`` is one of ``SERVERS``. ``stored`` says whether Redis has a move before it is acked.
    """
    async with AsyncExitStack() as stack:
        setup = await stack.enter_async_context(load_setup("everysec"))
        redis = [setup.redis.target] if stored else []
        process = await stack.enter_async_context(
            child_process("node", str(_INSTALLED / f"{server}.mjs"), *redis, errors=asyncio.subprocess.DEVNULL)
        )
        assert process.stdout is not None
        while not (line := await process.stdout.readline()).strip().isdigit():
            assert line, f"{server} did not start"
        url = f"ws://127.0.0.1:{int(line)}"
        arguments = python("tests.bench.peers.racers", server, url, str(scenario.clients))
        racing = await stack.enter_async_context(Sender.start(process.pid, *arguments))
        echoing = await stack.enter_async_context(echo_sender(scenario.clients, seed=1))
        return await Price.measure(scenario, racing, echoing, rounds, seconds)

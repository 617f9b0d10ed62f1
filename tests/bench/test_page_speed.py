"""How soon somebody with a slow phone can play. Prints a table."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import Final
from urllib.parse import urlsplit

import pytest

from samedeal_server.tasks import cancel_and_wait
from tests.end_to_end.browser import ENGINES, Engine, running_browser
from tests.end_to_end.racing_page import SMALL_PHONE
from tests.server.live_nodes import serving

LATENCY: Final = 400
RATE: Final = 50_000
"""A slow network: milliseconds for a round trip, and bytes a second."""

_CHUNK: Final = 4096
"""Number of bytes that are sent at a time."""


VISITS: Final = 8
"""Number of browsers that open the first screen."""

FIRST_MOVE: Final = """
return new Promise(resolve => {
  function look() {
    document.querySelector(".pile[data-key=stock]")?.click();
    if (document.querySelector("#back:enabled")) resolve(performance.now() / 1000);
    else requestAnimationFrame(look);
  }
  look();
});
"""
"""Plays as soon as there is a board, and returns the time since the address was opened, in seconds."""


class SlowNetwork:
    """Forwards connections to a server as a slow network does, for engines that cannot be told to be slow.

    The first answer on each connection takes ``LATENCY`` longer, and all answers together have the ``RATE``.
    """

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server)
        self._free_at = 0.0
        self._forwarding: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> str:
        self._listening = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        return f"ws://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        await cancel_and_wait(self._forwarding)

    async def _forward(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._forwarding.add(task)
        server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._answer(server, to_client))
                with suppress(ConnectionError):
                    while asked := await client.read(_CHUNK):
                        to_server.write(asked)
                    to_server.write_eof()
        finally:
            to_server.close()
            to_client.close()

    async def _answer(self, server: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            answer = await server.read(_CHUNK)
            await asyncio.sleep(LATENCY / 1000)
            while answer:
                self._free_at = max(self._free_at, time.monotonic()) + len(answer) / RATE
                await asyncio.sleep(self._free_at - time.monotonic())
                to_client.write(answer)
                await to_client.drain()
                answer = await server.read(_CHUNK)
            to_client.write_eof()


@pytest.mark.parametrize("engine", ENGINES)
async def test_first_move_on_a_slow_phone(redis_url: str, tmp_path: Path, engine: Engine) -> None:
    """The time from the address of the server to a move on the board to try, in browsers that have cached nothing.

    Only Chromium can be told to have a slow CPU.
    """
    times = []
    async with serving(redis_url, "n1") as node, SlowNetwork(node.url) as url:
        for visit in range(VISITS):
            profile = tmp_path / str(visit)
            profile.mkdir()
            with running_browser(profile, engine) as browser:
                if engine == "chromium":
                    await browser.slow_down(4)
                await browser.open(url, SMALL_PHONE)
                times.append(await browser.run(FIRST_MOVE))
    _, median, late = quantiles(times, n=4)
    slower = "CPU 4 times slower" if engine == "chromium" else "CPU as it is"
    print(
        f"\n\n{engine}, {slower}, answers {LATENCY} ms later, {8 * RATE // 1000} kbit/s\n"
        f"address to first move: median {median:.1f} s, p75 {late:.1f} s, {' '.join(f'{each:.1f}' for each in times)}"
    )

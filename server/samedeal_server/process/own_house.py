"""The house that a server runs: a process of ``samedeal house``, which is started again whenever it ends."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from samedeal_server.config.config import HOUSE_KEY, Config
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.logger import get_logger

SHORTEST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 30.0
"""Minimum and maximum time, in seconds, until a house that has ended is started again. It doubles with each start."""

_log = get_logger()


def make_house_key(config: Config) -> None:
    """Put a key into the environment, for the house and for workers, if the server has a house and no file with a key."""
    if config.house and not config.house_key_file:
        os.environ.setdefault(HOUSE_KEY, secrets.token_urlsafe(32))


def house_command(config: Config, url: str) -> list[str]:
    """Return the command of the house that connects to ``url``."""
    command = [sys.executable, "-m", "samedeal_client", "house", url, "--bots", str(config.house), "--exit-with-stdin"]
    command += ["--key-file", config.house_key_file] if config.house_key_file else []
    return command + (["--certificate", str(config.tls_cert)] if config.tls_cert else [])


async def keep_house(command: Sequence[str], stop: asyncio.Event) -> None:
    """Run the house, and start it again whenever it ends, until ``stop`` is set. Then let it leave, and never return."""
    stopping = asyncio.create_task(stop.wait())
    delay = SHORTEST_DELAY
    try:
        while not stop.is_set():
            code = await _run(command, stopping)
            if not stop.is_set():
                _log.warning("house_died", code=code, retry_after=delay)
                await asyncio.wait([stopping], timeout=delay)
                delay = min(2 * delay, LONGEST_DELAY)
        await asyncio.Event().wait()
    finally:
        await cancel_and_wait([stopping])


async def _run(command: Sequence[str], stopping: asyncio.Task[bool]) -> int:
    """Run the house until it ends, log what it writes, and return its exit code.

    Once ``stopping`` has ended, its standard input closes, so that it leaves its rooms. That also closes with this process.
    """
    house = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=STDOUT)
    assert house.stdin is not None and house.stdout is not None  # noqa: S101, PT018 (they are pipes)
    stopping.add_done_callback(leave := lambda _: house.stdin.close())
    try:
        async for line in house.stdout:
            _log.warning("house_says", text=line.decode(errors="replace").strip())
        return await house.wait()
    finally:
        stopping.remove_done_callback(leave)
        with suppress(ProcessLookupError):
            house.kill()
        await house.wait()

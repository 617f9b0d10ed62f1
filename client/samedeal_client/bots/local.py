"""A server and bots on this machine, as child processes that end with whoever started them."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import IO, Final

from samedeal.names import printable
from samedeal_client.bots import leash
from samedeal_client.bots.bot_names import BOT_NAMES
from samedeal_client.bots.strategy import Level
from samedeal_client.net.address import PASSPHRASE, Address, parse_address

START_TIMEOUT: Final = 30.0
STOP_TIMEOUT: Final = 8.0

MIXES: Final[dict[str, tuple[Level, ...]]] = {
    "mixed": ("careful", "greedy", "random"),
    "random": ("random",),
    "greedy": ("greedy",),
    "careful": ("careful",),
}
"""The levels that bots have in turn, by the name of the mix."""

_ANNOUNCED: Final = b"listening on "


class CannotHost(Exception):
    """No server could be started here, or it has ended; ``str()`` of it says why."""


@dataclass(frozen=True)
class BotPlan:
    """A bot to be started; ``pace`` in moves a minute."""

    name: str
    level: Level
    pace: float


def plan_bots(count: int, mix: str, pace: float, rng: Random) -> list[BotPlan]:
    """So many bots, their names and levels; fifteen at the most."""
    levels = MIXES[mix]
    names = rng.sample(BOT_NAMES, count)
    return [
        BotPlan(f"{name} ({level})", level, pace)
        for name, level in zip(names, (levels[at % len(levels)] for at in range(count)), strict=True)
    ]


class LocalServer:
    """A server that runs here: its address, and what it said last."""

    def __init__(self, address: Address, process: Process, log: Path) -> None:
        self.address = address
        self._process = process
        self._log = log

    async def ended(self) -> CannotHost:
        """Wait until the server ends by itself: why it did."""
        code = await self._process.wait()
        words = _last_words(self._log)
        return CannotHost(f"The server has ended with code {code}{f': {words}' if words else ''}")


@asynccontextmanager
async def local_server() -> AsyncIterator[LocalServer]:
    """Run a server on a free port of this machine, with a Redis of its own, both gone afterwards. Raises CannotHost.

    They are gone too when this process is killed.
    """
    with TemporaryDirectory(prefix="samedeal-", ignore_cleanup_errors=True) as directory:
        log = Path(directory, "server.log")
        command = [
            *("-I", "-S", leash.__file__, sys.executable),
            *("-m", "samedeal_server", "--port", "0", "--announce"),
            *("--data", str(Path(directory, "data")), "--durability", "everysec"),
            *("--log-level", "warning", "--log-style", "json"),
        ]
        with _opened(log) as errors:
            process = await _start(command, errors, announces=True)
        try:
            yield LocalServer(await _address(process, log), process, log)
        finally:
            await _stop([process])


def _opened(log: Path) -> IO[bytes]:
    return log.open("wb")


async def _address(process: Process, log: Path) -> Address:
    assert process.stdout is not None  # noqa: S101 (it was asked for)
    line = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(START_TIMEOUT):
            line = await process.stdout.readline()
    if not line.startswith(_ANNOUNCED):
        why = _last_words(log) or f"it said nothing for {START_TIMEOUT:g} seconds"
        raise CannotHost(f"The server could not be started: {why}")
    return parse_address(line.removeprefix(_ANNOUNCED).decode())


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return printable(lines[-1]) if lines else ""


@asynccontextmanager
async def local_bots(
    address: Address,
    room: str,
    plans: Sequence[BotPlan],
    *,
    stay: bool,
    warn: Callable[[str], None],
    ended: Callable[[str], None] = lambda _: None,
    passphrase: str = "",
) -> AsyncIterator[None]:
    """Have bots join a room and play; they are gone afterwards.

    ``warn`` is told of one that fails, and ``ended`` the name of one that has ended by itself, well or not.

    Each ends when its standard input does, so that they are gone too when this process is killed.
    """
    processes: list[Process] = []
    watching: list[asyncio.Task[None]] = []
    with TemporaryDirectory(prefix="samedeal-bots-", ignore_cleanup_errors=True) as directory:
        try:
            for number, plan in enumerate(plans):
                command = ["-m", "samedeal_client", "bot", address.url, room]
                command += ["--level", plan.level, "--pace", f"{plan.pace:g}", "--name", plan.name, "--leash"]
                log = Path(directory, f"{number}.log")
                with _opened(log) as errors:
                    process = await _start([*command, *(["--stay"] if stay else [])], errors, passphrase=passphrase)
                processes.append(process)
                watching.append(asyncio.create_task(_watch(plan.name, process, log, warn, ended)))
            yield
        finally:
            for task in watching:
                task.cancel()
            await _stop(processes)


async def _watch(
    name: str, process: Process, log: Path, warn: Callable[[str], None], ended: Callable[[str], None]
) -> None:
    code = await process.wait()
    ended(name)
    if code != 0:
        told = _last_words(log).removeprefix("samedeal: ")
        warn(f'{name} has gone: it was told "{told}"' if told else f"{name} has gone")


async def _start(
    arguments: Sequence[str],
    errors: IO[bytes],
    *,
    announces: bool = False,
    passphrase: str = "",
) -> Process:
    """Start a process on a leash: its standard input ends with this process, however that ends."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE if announces else asyncio.subprocess.DEVNULL,
        stderr=errors,
        # A process group of its own: Ctrl-C is for the one who sits there, and the children end in order.
        start_new_session=True,
        # Arguments can be read by everybody on the machine, the environment by its owner alone.
        env=_environment() | {"PYTHONUNBUFFERED": "1", PASSPHRASE: passphrase},
    )


def _environment() -> dict[str, str]:
    """This process's environment without the settings of a server, which are for one that is run on purpose.

    What its Redis is run with stays.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name in ("SAMEDEAL_DEBUG", "SAMEDEAL_REDIS_SERVER") or not name.startswith("SAMEDEAL_")
    }


async def _stop(processes: Sequence[Process]) -> None:
    """End processes, politely at first; a second interruption ends them at once."""
    for process in processes:
        with suppress(ProcessLookupError):
            process.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            for process in processes:
                await process.wait()
    except TimeoutError:
        pass
    finally:
        for process in processes:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

"""A server and bots on this machine, as child processes that end with the process that started them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from tempfile import TemporaryFile, mkdtemp
from typing import IO, Final

from samedeal.terminal_text import printable
from samedeal_client.bots import server_parent_watch
from samedeal_client.bots.bot_names import BOT_NAMES
from samedeal_client.net.address import DEFAULT_PORT, PASSPHRASE, ServerAddress, parse_address
from samedeal_client.state.bot_levels import MIXES, Level

START_TIMEOUT: Final = 30.0
"""Timeout, in seconds, for the server to announce its address."""

STOP_TIMEOUT: Final = 8.0
"""Timeout, in seconds, for processes to end after SIGTERM. After the timeout they are killed."""

_LOG_TAIL: Final = 10_000
"""Number of bytes at the end of a process's output that are searched for the last line."""

_ANNOUNCED: Final = b"listening on "


class CannotHost(Exception):
    """The failure of a local server that could not be started, or has ended. ``str()`` gives sentences for the player."""


@dataclass(frozen=True)
class BotPlan:
    """A bot to start. ``pace`` is in moves a minute."""

    name: str
    level: Level
    pace: float


def plan_bots(count: int, mix: str, pace: float, rng: Random) -> list[BotPlan]:
    """Plan ``count`` bots, at most fifteen, with random names. Their levels are those of ``MIXES[mix]``, in turn."""
    levels = MIXES[mix]
    names = rng.sample(BOT_NAMES, count)
    return [BotPlan(name, levels[at % len(levels)], pace) for at, name in enumerate(names)]


class LocalServer:
    """A server process on this machine."""

    def __init__(self, address: ServerAddress, process: Process, log: IO[bytes]) -> None:
        self.address = address
        self._process = process
        self._log = log

    async def wait(self) -> CannotHost:
        """Wait until the server ends by itself. Return the error that says why."""
        code = await self._process.wait()
        reason = _last_line(self._log)
        return CannotHost(f"The server has ended with code {code}. {reason}".rstrip())


@asynccontextmanager
async def local_server(*, public: bool = False) -> AsyncIterator[LocalServer]:
    """Run a server and its own Redis on a free port of this machine. Raise CannotHost if the server does not start.

    If ``public`` is true, the server listens on the default port instead, and other machines can reach it. Server and
    Redis end with the context, and also if this process is killed.
    """
    with TemporaryFile() as log:
        data = mkdtemp(prefix="samedeal-")
        command = [
            *("-I", "-S", server_parent_watch.__file__, data, sys.executable),
            *("-m", "samedeal_server", "--announce"),
            *(("--host", "all", "--port", str(DEFAULT_PORT)) if public else ("--port", "0")),
            *("--data", data, "--durability", "everysec"),
            *("--log-level", "warning", "--log-style", "json"),
        ]
        processes: list[Process] = []
        try:
            process = await _start(command, log, announces=True)
            processes.append(process)
            yield LocalServer(await _announced_address(process, log), process, log)
        finally:
            try:
                await _stop(processes)
            finally:
                await asyncio.to_thread(server_parent_watch.remove_data, data)


async def _announced_address(process: Process, log: IO[bytes]) -> ServerAddress:
    assert process.stdout is not None  # noqa: S101 (it was started with a pipe)
    line = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(START_TIMEOUT):
            line = await process.stdout.readline()
    if not line.startswith(_ANNOUNCED):
        reason = _last_line(log) or f"It did not answer within {START_TIMEOUT:g} seconds."
        raise CannotHost(f"The server could not be started. {reason}")
    return parse_address(line.removeprefix(_ANNOUNCED).decode())


def _last_line(log: IO[bytes]) -> str:
    # pread does not move the file offset, which the process shares, and at which it writes.
    end = os.fstat(log.fileno()).st_size
    text = os.pread(log.fileno(), _LOG_TAIL, max(end - _LOG_TAIL, 0))
    lines = text.decode(errors="replace").strip().splitlines()
    return printable(lines[-1]) if lines else ""


@asynccontextmanager
async def local_bots(
    address: ServerAddress,
    room: str,
    plans: Sequence[BotPlan],
    *,
    stay: bool,
    warn: Callable[[str], None],
    on_exit: Callable[[str], None] = lambda _: None,
    passphrase: str = "",
) -> AsyncIterator[None]:
    """Run bots that join a room and play.

    The bots end with the context. Each bot also ends when its standard input closes, so the bots end if this process is
    killed. ``on_exit`` is called with the name of a bot that ends by itself. If that bot failed, ``warn`` is called
    with a sentence.
    """
    processes: list[Process] = []
    watching: list[asyncio.Task[None]] = []
    with ExitStack() as logs:
        try:
            for plan in plans:
                command = ["-m", "samedeal_client", "bot", address.url, room]
                command += ["--level", plan.level, "--pace", f"{plan.pace:g}", "--name", plan.name, "--exit-with-stdin"]
                log = logs.enter_context(TemporaryFile())
                process = await _start([*command, *(["--stay"] if stay else [])], log, passphrase=passphrase)
                processes.append(process)
                watching.append(asyncio.create_task(_report_exit(plan.name, process, log, warn, on_exit)))
            yield
        finally:
            for task in watching:
                task.cancel()
            await _stop(processes)


async def _report_exit(
    name: str, process: Process, log: IO[bytes], warn: Callable[[str], None], on_exit: Callable[[str], None]
) -> None:
    code = await process.wait()
    on_exit(name)
    if code != 0:
        reason = _last_line(log).removeprefix("samedeal: ")
        warn(f"The bot {name} has stopped. {reason}".rstrip())


async def _start(
    arguments: Sequence[str], errors: IO[bytes], *, announces: bool = False, passphrase: str = ""
) -> Process:
    """Start a child process whose standard input closes when this process ends, even if this process is killed.

    The child writes its error messages to ``errors``. If ``announces`` is true, this process can read its output.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE if announces else asyncio.subprocess.DEVNULL,
        stderr=errors,
        # In a session of its own, the child gets no Ctrl-C. Only this process gets it, and then stops the child.
        start_new_session=True,
        # Every user of the machine can read the arguments, but only the owner can read the environment.
        env=environment() | {"PYTHONUNBUFFERED": "1", PASSPHRASE: passphrase},
    )


def environment() -> dict[str, str]:
    """Return this process's environment without most ``SAMEDEAL_`` variables.

    The user may have set these variables for another server. Only the variables for debugging and for the Redis binary
    stay.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name in ("SAMEDEAL_DEBUG", "SAMEDEAL_REDIS_SERVER") or not name.startswith("SAMEDEAL_")
    }


async def _stop(processes: Sequence[Process]) -> None:
    """End processes with SIGTERM. After a timeout, or if this coroutine is cancelled, kill them and their children."""
    for process in processes:
        if process.returncode is None:
            # Process.terminate() may take the exit code away from asyncio, which then prints a warning.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            for process in processes:
                await process.wait()
    except TimeoutError:
        pass
    finally:
        for process in processes:
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # each leads a process group of its own
        for process in processes:
            await process.wait()

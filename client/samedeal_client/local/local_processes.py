"""A server and bots on this machine, as child processes that end with the process that started them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile, mkdtemp
from typing import IO, Any, Final, NamedTuple

from samedeal.terminal_text import printable
from samedeal_client.local import parent_watch
from samedeal_link.connection.address import DEFAULT_PORT, PASSPHRASE, ServerAddress, parse_address
from samedeal_link.errors import Failure
from samedeal_link.first_completed import first_of
from samedeal_link.solving.bot_levels import Level

START_TIMEOUT: Final = 30.0
"""Timeout, in seconds, for the server to announce its address."""

STOP_TIMEOUT: Final = 8.0
"""Timeout, in seconds, for processes to end after their input is closed. After the timeout they are killed."""

_LOG_TAIL: Final = 10_000
"""Number of bytes at the end of a process's output that are searched for the last line."""

_ANNOUNCED: Final = b"listening on "


class BotPlan(NamedTuple):
    """A bot to start. ``pace`` is in moves a minute."""

    name: str
    level: Level
    pace: float


@dataclass(frozen=True)
class Child:
    """A child process, which writes its error messages to a file."""

    process: Process
    _log: IO[bytes]

    def last_line(self) -> str:
        """Return the last line that the process has written to the file."""
        # pread does not move the file offset, which the process shares, and at which it writes.
        end = os.fstat(self._log.fileno()).st_size
        text = os.pread(self._log.fileno(), _LOG_TAIL, max(end - _LOG_TAIL, 0))
        lines = text.decode(errors="replace").strip().splitlines()
        return printable(lines[-1]) if lines else ""


async def race_on_local_server(
    race: Callable[[ServerAddress], Coroutine[Any, Any, int]], *, public: bool = False
) -> int:
    """Run a ``local_server``, and a race on it. Return the exit code of the race.

    Raise Failure if the server does not start, or ends before the race.
    """
    async with (
        local_server(public=public) as (address, server),
        first_of(race(address), server.process.wait()) as (racing, ending),
    ):
        if racing.done():
            return racing.result()
        raise Failure(f"The server has ended with code {ending.result()}. {server.last_line()}".rstrip())


@asynccontextmanager
async def local_server(*, public: bool = False) -> AsyncIterator[tuple[ServerAddress, Child]]:
    """Run a server and its own Redis on a free port of this machine. Raise Failure if the server does not start.

    If ``public`` is true, the server listens on the default port instead, other machines can reach it, and it has a house.
    Server and Redis end with the context, and also if this process is killed.
    """
    data = mkdtemp(prefix="samedeal-")
    command = [
        *("-I", "-S", parent_watch.__file__, "0", data, sys.executable),
        *("-m", "samedeal_server", "--announce"),
        *(("--host", "all", "--port", str(DEFAULT_PORT), "--house", "3") if public else ("--port", "0")),
        *("--data", data, "--durability", "everysec"),
        *("--log-level", "warning", "--log-style", "json"),
    ]
    try:
        async with _child(command, announces=True) as child:
            yield await _announced_address(child), child
    finally:
        await asyncio.to_thread(parent_watch.remove_data, data)


async def _announced_address(server: Child) -> ServerAddress:
    assert server.process.stdout is not None  # noqa: S101 (it was started with a pipe)
    line = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(START_TIMEOUT):
            line = await server.process.stdout.readline()
    if not line.startswith(_ANNOUNCED):
        reason = server.last_line() or f"It did not answer within {START_TIMEOUT:g} seconds."
        raise Failure(f"The server could not be started. {reason}")
    return parse_address(line.removeprefix(_ANNOUNCED).decode())


@asynccontextmanager
async def local_bot(
    address: ServerAddress,
    room: str,
    plan: BotPlan,
    passphrase: str,
    warn: Callable[[str], None],
    on_exit: Callable[[str], object],
) -> AsyncIterator[None]:
    """Run a bot that joins a room and plays, also in the rematches.

    The bot ends with the context. It also ends when its standard input closes, so it ends if this process is killed.
    ``on_exit`` is called with its name if it ends by itself. If it failed, ``warn`` is called with a sentence.
    """
    command = ["-m", "samedeal_client", "bot", address.url, room, "--stay", "--exit-with-stdin"]
    command += ["--level", plan.level, "--pace", f"{plan.pace:g}", "--name", plan.name]
    async with _child(command, passphrase=passphrase) as child:

        async def report_exit() -> None:
            code = await child.process.wait()
            on_exit(plan.name)
            if code != 0:
                reason = child.last_line().removeprefix("samedeal: ")
                warn(f"The bot {plan.name} has stopped. {reason}".rstrip())

        watching = asyncio.create_task(report_exit())
        try:
            yield
        finally:
            watching.cancel()


@asynccontextmanager
async def _child(arguments: Sequence[str], *, announces: bool = False, passphrase: str = "") -> AsyncIterator[Child]:
    """Run a child process whose standard input closes when this process ends, even if this process is killed.

    The child ends with the context. If ``announces`` is true, this process can read its output.
    """
    with TemporaryFile() as log:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE if announces else asyncio.subprocess.DEVNULL,
                stderr=log,
                # In a session of its own, the child gets no Ctrl-C. Only this process gets it, and then stops the child.
                start_new_session=True,
                # Every user of the machine can read the arguments, but only the owner can read the environment.
                env=environment() | {"PYTHONUNBUFFERED": "1", PASSPHRASE: passphrase},
            )
        )
        try:
            # If its start were cancelled, asyncio would kill the child, but not the server that the child has started.
            yield Child(await asyncio.shield(starting), log)
        finally:
            await _stop(await starting)


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


async def _stop(process: Process) -> None:
    """Close the input of a process. If it does not end in time, or if this coroutine is cancelled, kill its children too."""
    assert process.stdin is not None  # noqa: S101 (it was started with a pipe)
    process.stdin.close()
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT):
                await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # it leads a process group of its own
        await process.wait()

"""The real programs as child processes: a server, and clients that are typed at and read back."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

DEADLINE = 20.0


@dataclass
class Program:
    """A program that runs: what it has printed, and what it is told."""

    process: Process
    text: str = ""
    terminal: int | None = None
    _read: int = 0
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: asyncio.Task[None] | None = None

    def follow(self) -> None:
        self._reader = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        while data := await self._some():
            self.text += data.decode(errors="replace").replace("\r\n", "\n")
            self._more.set()
        self._more.set()

    async def _some(self) -> bytes:
        if self.terminal is None:
            assert self.process.stdout is not None
            return await self.process.stdout.read(65536)
        try:
            return await asyncio.to_thread(os.read, self.terminal, 65536)
        except OSError:
            return b""

    def type(self, *lines: str) -> None:
        data = "".join(f"{line}\n" for line in lines).encode()
        if self.terminal is not None:
            os.write(self.terminal, data)
            return
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def says(self, pattern: str, deadline: float = DEADLINE) -> re.Match[str]:
        """Wait for a text that was not read before."""
        compiled = re.compile(pattern)
        try:
            async with asyncio.timeout(deadline):
                while (match := compiled.search(self.text, self._read)) is None:
                    if self._reader is None or self._reader.done():
                        break
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            match = None
        assert match is not None, f"{pattern!r} is not in:\n{self.text[self._read :]}"
        self._read = match.end()
        return match

    async def ends(self, deadline: float = DEADLINE) -> int:
        """Wait for the end: the exit code."""
        async with asyncio.timeout(deadline):
            code = await self.process.wait()
            if self._reader is not None:
                await self._reader
        return code

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


class Programs:
    """Starts programs, and ends those that still run when the test is over."""

    def __init__(self, home: Path, stack: AsyncExitStack) -> None:
        self.home = home
        self.temporary = home / "tmp"
        self.temporary.mkdir()
        self._stack = stack

    @property
    def environment(self) -> Mapping[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "SAMEDEAL_"))}
        own = {"HOME": str(self.home), "TMPDIR": str(self.temporary)}
        return {**kept, **own, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", "TERM": "dumb"}

    def left_running(self) -> dict[int, str]:
        """The processes that were started by a program of the test, or by theirs, and still run, with their commands."""
        mark = f"HOME={self.home}".encode()
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command and mark in (place / "environ").read_bytes().split(b"\0"):
                    found[int(place.name)] = command
        return found

    def kill(self, command: str) -> None:
        """Kill those of them whose command begins so."""
        for number, running in self.left_running().items():
            if running.startswith(command):
                os.kill(number, signal.SIGKILL)

    async def on_terminal(self, *arguments: str) -> Program:
        """The command ``samedeal`` on a terminal of its own."""
        here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "samedeal_client", *arguments),
            stdin=there,
            stdout=there,
            stderr=there,
            env=self.environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(there)
        program = Program(process, terminal=here)
        program.follow()
        self._stack.push_async_callback(_end, program)
        return program

    async def start(self, *arguments: str, packages: Path | None = None) -> Program:
        """A program of this Python, with the packages of another release where ``packages`` says where they are."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            env={**self.environment, **({"PYTHONPATH": str(packages)} if packages else {})},
            start_new_session=True,
        )
        program = Program(process)
        program.follow()
        self._stack.push_async_callback(_end, program)
        return program

    async def samedeal(self, *arguments: str, packages: Path | None = None) -> Program:
        """The command ``samedeal``."""
        return await self.start("-m", "samedeal_client", *arguments, packages=packages)

    async def server(
        self, redis_url: str, port: int = 0, packages: Path | None = None, more: tuple[str, ...] = ()
    ) -> tuple[str, Program]:
        """A node on a Redis: its address."""
        program = await self.start(
            *("-m", "samedeal_server", "--redis", redis_url, "--port", str(port), "--announce"),
            *("--log-level", "warning", "--log-style", "json", *more),
            packages=packages,
        )
        match = await program.says(r"listening on (\S+)")
        return match[1], program


async def _end(program: Program) -> None:
    if program.process.returncode is None:
        program.process.kill()
    await program.process.wait()
    if program.process.stdin is not None:
        program.process.stdin.close()
    if program._reader is not None:
        await program._reader
    if program.terminal is not None:
        os.close(program.terminal)


@asynccontextmanager
async def programs_in(home: Path) -> AsyncIterator[Programs]:
    async with AsyncExitStack() as stack:
        yield Programs(home, stack)

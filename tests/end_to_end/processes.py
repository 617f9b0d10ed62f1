"""The real programs as child processes, with typed input and captured output."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import sys
import termios
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.child_processes import kill_and_wait, send_signal
from tests.server.waiting import until

DEADLINE = 30.0


@dataclass
class Program:
    """A running program with its input and output. ``events`` has what ``logs`` has read."""

    process: Process
    terminal: int | None = None
    text: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    _matched_until: int = 0
    _output_arrived: asyncio.Event = field(default_factory=asyncio.Event)
    reader: asyncio.Task[None] | None = None

    def start_reading(self) -> None:
        self.reader = asyncio.create_task(self._read_output())

    async def _read_output(self) -> None:
        while data := await self._read_chunk():
            self.text += data.decode(errors="replace").replace("\r\n", "\n")
            self._output_arrived.set()
        self._output_arrived.set()

    async def _read_chunk(self) -> bytes:
        if self.terminal is None:
            assert self.process.stdout is not None
            return await self.process.stdout.read(65536)
        try:
            return await asyncio.to_thread(os.read, self.terminal, 65536)
        except OSError:
            return b""

    def type_lines(self, *lines: str) -> None:
        data = "".join(f"{line}\n" for line in lines).encode()
        if self.terminal is not None:
            os.write(self.terminal, data)
            return
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def reply(self, line: str, pattern: str) -> re.Match[str]:
        """Type a line, and wait until the output after that contains a pattern."""
        self.type_lines(line)
        return await self.expect(pattern)

    async def expect(self, pattern: str, deadline: float = DEADLINE) -> re.Match[str]:
        """Wait until the output after the previous match contains a pattern."""
        compiled = re.compile(pattern)
        try:
            async with asyncio.timeout(deadline):
                while (match := compiled.search(self.text, self._matched_until)) is None:
                    if self.reader is None or self.reader.done():
                        break
                    self._output_arrived.clear()
                    await self._output_arrived.wait()
        except TimeoutError:
            match = None
        assert match is not None, f"{pattern!r} is not in:\n{self.text[self._matched_until :]}"
        self._matched_until = match.end()
        return match

    async def exit_code(self, deadline: float = DEADLINE) -> int:
        """Wait until the program exits, and return its exit code."""
        async with asyncio.timeout(deadline):
            code = await self.process.wait()
            if self.reader is not None:
                await self.reader
        return code

    async def logs(self, event: str, **fields: object) -> dict[str, Any]:
        """Wait for the next event of a log in JSON with a name and these fields. Every line until then must be an event."""
        while True:
            match = await self.expect(r"(?m)^(.*)\n")
            found: dict[str, Any] = json.loads(match[1])
            self.events.append(found)
            assert {"timestamp", "level", "event", "node"} <= found.keys()
            if found["event"] == event and all(found.get(name) == value for name, value in fields.items()):
                return found

    def signal(self, number: signal.Signals) -> None:
        send_signal(self.process, number)


class Programs:
    """Starts programs, and stops those that still run at the end of the test."""

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
        """The running processes that the test started, directly or indirectly, with their commands."""
        mark = f"HOME={self.home}".encode()
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command and mark in (place / "environ").read_bytes().split(b"\0"):
                    found[int(place.name)] = command
        return found

    def kill(self, command: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to the processes of the test whose command starts with a text."""
        for process, running in self.left_running().items():
            if running.startswith(command):
                os.kill(process, number)

    async def on_terminal(self, *arguments: str) -> Program:
        """Start ``samedeal`` on a pseudo-terminal."""
        command = (sys.executable, "-m", "samedeal_client", *arguments)
        return self._read(Program(*await start_on_terminal(*command, environment=self.environment)))

    def _read(self, program: Program) -> Program:
        program.start_reading()
        self._stack.push_async_callback(_stop, program)
        return program

    async def start(self, *arguments: str, packages: Path | None = None) -> Program:
        """Start a program with this Python. ``packages`` is the directory of another release's packages."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            env={**self.environment, **({"PYTHONPATH": str(packages)} if packages else {})},
            start_new_session=True,
        )
        return self._read(Program(process))

    async def samedeal(self, *arguments: str, packages: Path | None = None) -> Program:
        """Start ``samedeal``."""
        return await self.start("-m", "samedeal_client", *arguments, packages=packages)

    async def output(self, *arguments: str, code: int | None = 0) -> str:
        """Run ``samedeal`` without input to its end, and return what it prints. ``code`` is its exit code, if it matters."""
        program = await self.samedeal(*arguments)
        assert program.process.stdin is not None
        program.process.stdin.close()
        assert code in (await program.exit_code(), None), program.text
        assert "Traceback" not in program.text
        return program.text

    async def server(self, *options: str, port: int = 0, packages: Path | None = None) -> tuple[str, Program]:
        """Start a node, and return its address with the program."""
        program = await self.start(
            *("-m", "samedeal_server", "--port", str(port), "--announce"),
            *("--log-level", "warning", "--log-style", "json", *options),
            packages=packages,
        )
        match = await program.expect(r"listening on (\S+)")
        return match[1], program


async def start_on_terminal(*command: str, environment: Mapping[str, str] | None = None) -> tuple[Process, int]:
    """Start a program on a pseudo-terminal of its own. Return it with our end of the terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    return process, ours


async def _stop(program: Program) -> None:
    await kill_and_wait(program.process)
    if program.process.stdin is not None:
        program.process.stdin.close()
    if program.reader is not None:
        await program.reader
    if program.terminal is not None:
        os.close(program.terminal)


async def nothing_remains(programs: Programs) -> None:
    """Wait until no process of the test runs, and check that no temporary file is left."""
    await until(lambda: not programs.left_running())
    assert not list(programs.temporary.iterdir())


@asynccontextmanager
async def programs_in(home: Path) -> AsyncIterator[Programs]:
    async with AsyncExitStack() as stack:
        yield Programs(home, stack)

"""The real processes of a round, all on this machine: nodes, and a Redis that writes to disk before it replies."""

from __future__ import annotations

import asyncio
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.child_processes import die_with_parent, kill_and_wait, send_signal
from tests.server.redis_kinds import Server

_ROOT: Final = Path(__file__).parents[2]

_START_TIMEOUT: Final = 30.0
"""Timeout, in seconds, for a process to be ready."""

_STOP_TIMEOUT: Final = 20.0
"""Timeout, in seconds, for a node to end after SIGTERM."""


class RedisServer(Server):
    """A redis-server on a Unix socket, ``target``, that can be killed and restarted on the same data."""

    def __init__(self, directory: Path) -> None:
        self.target = f"{directory}/redis.sock"
        self.url = f"unix://{self.target}"
        super().__init__(directory, "--port", "0", "--unixsocket", self.target)
        self.redis = Redis.from_url(self.url, socket_timeout=2)

    async def do(self, *command: str | int) -> None:
        """Execute a command, unless Redis is unreachable."""
        with suppress(RedisError, OSError):
            await self.redis.execute_command(*command)


class Node:
    """A node process. ``frozen`` is true after SIGSTOP, ``leaving`` after a signal to end."""

    def __init__(self, process: asyncio.subprocess.Process, target: tuple[str, int], log: Path) -> None:
        self.target = target
        self.log = log
        self.frozen = False
        self.leaving = False
        self._process = process

    @classmethod
    async def start(
        cls, redis: str, log: Path, *options: str, files: int | None = None, module: str = "samedeal_server"
    ) -> Node:
        """Start a node with further options and wait until it accepts connections.

        ``files`` limits its open files. ``module`` is the module that Python runs. Raise RuntimeError with the log if the
        node does not start.
        """

        def prepare() -> None:
            die_with_parent()
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", module, "--announce", "--port", "0"),
                *("--redis", redis, "--log-style", "json", "--log-level", "debug", *options),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=_ROOT,
                preexec_fn=prepare,
                start_new_session=True,
            )
        try:
            if process.stdout is None:
                raise RuntimeError("the node has no standard output")
            async with asyncio.timeout(_START_TIMEOUT):
                line = (await process.stdout.readline()).decode()
            host, port = line.removeprefix("listening on ws://").strip().split(":")
        except (TimeoutError, ValueError):
            await kill_and_wait(process)
            text = await asyncio.to_thread(log.read_text)
            raise RuntimeError(f"a node did not start: {text}") from None
        except BaseException:
            await kill_and_wait(process)
            raise
        return cls(process, (host, int(port)), log)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, None while the process runs."""
        return self._process.returncode

    def freeze(self) -> None:
        """Send SIGSTOP."""
        send_signal(self._process, signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        """Send SIGCONT."""
        self.frozen = False
        send_signal(self._process, signal.SIGCONT)

    async def kill(self) -> None:
        """Send SIGKILL and wait until the process has ended."""
        self.leaving = True
        await kill_and_wait(self._process)

    async def drain(self) -> str:
        """Send SIGTERM and wait. Return a sentence if the process did not end properly, otherwise an empty string."""
        self.leaving = True
        send_signal(self._process, signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_TIMEOUT):
                code = await self._process.wait()
        except TimeoutError:
            return f"{self.log.name}: still running {_STOP_TIMEOUT:.0f} s after SIGTERM"
        return f"{self.log.name}: exit code {code} after SIGTERM" if code else ""

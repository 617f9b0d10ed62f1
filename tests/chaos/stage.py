"""The real processes of a round: one Redis with everything on disk before it is answered, and nodes; all on this machine."""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from samedeal_server.redis_binary import find_redis_binary

_START: Final = 30.0
_STOP: Final = 20.0
_DIES_WITH_PARENT: Final = 1


def die_with_parent() -> None:
    """Have the kernel end a child whose parent was killed (Linux); elsewhere a killed run leaves its processes behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def _send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    # Process.send_signal looks first whether the child has ended, and takes its exit code from those who wait for it.
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


async def _reap(process: asyncio.subprocess.Process) -> None:
    _send(process, signal.SIGKILL)
    await process.wait()


class RedisServer:
    """A redis-server on a socket in a directory, which can be killed and started again on the same data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = f"{directory}/redis.sock"
        self.url = f"unix://{self.socket}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it answers. Raises TimeoutError."""
        binary = await asyncio.to_thread(find_redis_binary)
        settings = {
            "port": "0",
            "unixsocket": self.socket,
            "dir": str(self.directory),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "logfile": "redis.log",
        }
        self._process = await asyncio.create_subprocess_exec(
            binary.path,
            *(word for name, value in settings.items() for word in (f"--{name}", value)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent,
            start_new_session=True,
        )
        async with asyncio.timeout(_START), Redis.from_url(self.url) as redis:
            await _answering(redis)

    async def kill(self) -> None:
        """SIGKILL; returns when it is gone."""
        if self._process is not None:
            await _reap(self._process)

    def freeze(self) -> None:
        """SIGSTOP."""
        if self._process is not None:
            _send(self._process, signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        if self._process is not None:
            _send(self._process, signal.SIGCONT)

    async def do(self, *command: str | int) -> None:
        """Have it do something, where it can be reached."""
        with suppress(RedisError, OSError):
            redis: Any = Redis.from_url(self.url, socket_timeout=2)
            async with redis:
                await redis.execute_command(*command)


async def _answering(client: Redis) -> None:
    # redis-py leaves this method without types.
    redis: Any = client
    while True:
        with suppress(RedisError, OSError):
            if await redis.execute_command("PING"):
                return
        await asyncio.sleep(0.01)


class Node:
    """A node process. ``frozen`` says that it is stopped at present, ``leaving`` that it has been told to go."""

    def __init__(self, process: asyncio.subprocess.Process, target: tuple[str, int], log: Path) -> None:
        self.target = target
        self.log = log
        self.frozen = False
        self.leaving = False
        self._process = process

    @classmethod
    async def start(cls, redis: str, log: Path, *options: str, files: int | None = None) -> Node:
        """Start one, with more options, which may have so many files open; wait until it takes connections.

        Raises RuntimeError with what it said.
        """

        def begin() -> None:
            die_with_parent()
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "samedeal_server", "--announce", "--port", "0"),
                *("--redis", redis, "--log-style", "json", "--log-level", "debug", *options),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                preexec_fn=begin,
                start_new_session=True,
            )
        try:
            if process.stdout is None:
                raise RuntimeError("the node has no standard output")
            async with asyncio.timeout(_START):
                said = (await process.stdout.readline()).decode()
            host, port = said.removeprefix("listening on ws://").strip().split(":")
        except (TimeoutError, ValueError):
            await _reap(process)
            said = await asyncio.to_thread(log.read_text)
            raise RuntimeError(f"a node did not start: {said}") from None
        except BaseException:
            await _reap(process)
            raise
        return cls(process, (host, int(port)), log)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._process.returncode

    def freeze(self) -> None:
        """SIGSTOP."""
        _send(self._process, signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        """SIGCONT."""
        self.frozen = False
        _send(self._process, signal.SIGCONT)

    async def kill(self) -> None:
        """SIGKILL; returns when it is gone."""
        self.leaving = True
        await _reap(self._process)

    async def drain(self) -> str:
        """SIGTERM; returns what was wrong with the way in which it went, or nothing."""
        self.leaving = True
        _send(self._process, signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP):
                code = await self._process.wait()
        except TimeoutError:
            return f"{self.log.name}: not gone {_STOP:.0f} s after SIGTERM"
        return f"{self.log.name}: exit code {code} after SIGTERM" if code else ""

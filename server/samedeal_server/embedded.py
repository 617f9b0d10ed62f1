"""The embedded Redis: a child of this node on a private socket, with its data in a directory of this machine.

**Invariants**: it ends with the node, however the node ends; no two run on one directory; nothing of the data is ever
deleted or repaired without being told.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Literal
from urllib.parse import quote

from samedeal_server import redis_guard
from samedeal_server.errors import StartupError
from samedeal_server.redis_binary import RedisBinary, find_redis_binary
from samedeal_server.redis_log import newer_data, tail, why

Durability = Literal["always", "everysec"]

_LONGEST_SOCKET_PATH: Final = 100
"""Bytes; an address of a Unix socket holds 104 to 108."""

_LARGEST_LOG: Final = 1_000_000
_SILENCE: Final = 60.0
"""Seconds without any answer after which a starting Redis is given up; one that loads its data answers that it does."""


class EmbeddedRedis:
    """A Redis of this node's own.

    ``data`` is the directory of its append-only file, its log and its lock; ``durability`` says whether a write is on disk
    before it is answered or within a second; ``patience`` is how many seconds to wait for an earlier one to be gone from the
    directory. As a context manager it gives its URL.
    """

    def __init__(self, data: Path, durability: Durability = "always", patience: float = 5.0) -> None:
        self.data = data.absolute()
        self.durability = durability
        self.patience = patience
        self._guard: asyncio.subprocess.Process | None = None
        self._binary: RedisBinary | None = None
        self._held: list[int] = []
        self._log_start = 0

    @property
    def log(self) -> Path:
        """The file that Redis logs to."""
        return self.data / "redis.log"

    async def __aenter__(self) -> str:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> str:
        """Start it and wait until it has loaded its data; returns its URL, ``unix://`` and a path.

        Raises StartupError ``redis_missing``, ``redis_too_old``, ``redis_failed``, ``data_corrupt``, ``data_in_use`` or
        ``data_unwritable``.
        """
        if self._guard:
            raise RuntimeError("this Redis is already running")
        self._binary = binary = await asyncio.to_thread(find_redis_binary)
        scratch: Path | None = None
        try:
            self._make_directory()
            lock = await self._lock()
            self._check_age(binary)
            scratch = _scratch()
            socket = scratch / "redis.sock"
            (scratch / "redis.conf").write_bytes(self._configuration(socket))
            await self._spawn(binary, scratch, lock)
            await self._answering(socket)
        except BaseException:
            await self.stop()
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)
            raise
        return f"unix://{quote(str(socket))}"

    async def stop(self) -> None:
        """Stop it and wait until it has written everything and is gone. Stopping what doesn't run does nothing."""
        guard, self._guard = self._guard, None
        held, self._held = self._held, []
        for descriptor in held:
            os.close(descriptor)
        if guard:
            await guard.wait()

    async def died(self) -> StartupError:
        """Wait until it ends; returns what to say if it was not told to."""
        if not self._guard or not self._binary:
            raise RuntimeError("this Redis is not running")
        code = await self._guard.wait()
        return why(self.data, self._binary, code, tail(self.log, self._log_start))

    def _make_directory(self) -> None:
        with _writing(self.data):
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _check_age(self, binary: RedisBinary) -> None:
        """A Redis that knows one append-only file passes over a directory of them, and would start without the data."""
        if (self.data / "appendonlydir").is_dir() and not binary.many_files:
            raise StartupError("redis_too_old", newer_data(self.data, binary))

    async def _lock(self) -> int:
        """Hold the directory's lock; Redis inherits it, so that it is free only when Redis is gone."""
        with _writing(self.data):
            lock = os.open(self.data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._held.append(lock)
        deadline = asyncio.get_running_loop().time() + self.patience
        with _writing(self.data):
            while not _locked(lock):
                if asyncio.get_running_loop().time() >= deadline:
                    raise StartupError("data_in_use", self._in_use(lock))
                await asyncio.sleep(0.05)
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
        return lock

    def _in_use(self, lock: int) -> str:
        holder = os.pread(lock, 20, 0).decode("ascii", "replace")
        which = f" (process {holder})" if holder.isdecimal() else ""
        return (
            f"Another server{which} uses {self.data}: stop it, or choose another directory with --data DIR. "
            "Several servers share races through one Redis, named with --redis URL"
        )

    async def _spawn(self, binary: RedisBinary, scratch: Path, lock: int) -> None:
        ours, theirs = _pipe()
        self._held.append(ours)
        try:
            with _writing(self.data):
                log = _open_log(self.log)
            try:
                self._log_start = os.fstat(log).st_size
                self._guard = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", redis_guard.__file__, str(theirs), str(lock), str(scratch)),
                    *(str(binary.path), str(scratch / "redis.conf")),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(theirs, lock),
                    start_new_session=True,
                )
            finally:
                os.close(log)
        finally:
            os.close(theirs)

    async def _answering(self, path: Path) -> None:
        """Wait until Redis answers that it is ready."""
        loop = asyncio.get_running_loop()
        died = asyncio.create_task(self.died())
        try:
            deadline = loop.time() + _SILENCE
            while not (answer := await _pinged(path)).startswith(b"+PONG"):
                if answer:
                    deadline = loop.time() + _SILENCE
                if loop.time() >= deadline:
                    raise StartupError(
                        "redis_failed", f"Redis runs but has not answered for {_SILENCE:.0f} s: see its log, {self.log}"
                    )
                if (await asyncio.wait((died,), timeout=0.02))[0]:
                    raise died.result()
        finally:
            died.cancel()
            with suppress(asyncio.CancelledError):
                await died

    def _configuration(self, path: Path) -> bytes:
        """What Redis 6.2 to 8 and Valkey all understand."""
        return b"\n".join(
            [
                b"port 0",
                b"unixsocket " + _quoted(path),
                b"unixsocketperm 700",
                b"dir " + _quoted(self.data),
                b"daemonize no",
                b'save ""',
                b"appendonly yes",
                b"appendfsync " + self.durability.encode(),
                b"aof-load-truncated yes",
                b"maxmemory-policy noeviction",
                b"",
            ]
        )


@contextmanager
def _writing(data: Path) -> Iterator[None]:
    """Turns what the file system refuses in a directory into ``data_unwritable``."""
    try:
        yield
    except OSError as error:
        at = f" at {error.filename}" if error.filename and Path(error.filename) != data else ""
        raise StartupError(
            "data_unwritable",
            f"The data directory {data} can't be used ({error.strerror}{at}): make it a directory that this user may "
            "write, or choose another with --data DIR",
        ) from None


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _scratch() -> Path:
    """A new directory for the socket: the data's own path may be longer than a socket's address can be."""
    made = Path(tempfile.mkdtemp(prefix="samedeal-"))
    if len(os.fsencode(made)) + len("/redis.sock") > _LONGEST_SOCKET_PATH:
        made.rmdir()
        made = Path(tempfile.mkdtemp(prefix="samedeal-", dir="/tmp"))  # a private directory in it
    return made


def _pipe() -> tuple[int, int]:
    """The write end, which no child inherits, and the read end."""
    read, write = os.pipe()
    return write, read


def _open_log(log: Path) -> int:
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _quoted(path: Path) -> bytes:
    """A path as a word of a Redis configuration file: any byte may be in it."""
    plain = b"/._-"
    return (
        b'"'
        + b"".join(
            bytes([byte]) if chr(byte).isascii() and (chr(byte).isalnum() or byte in plain) else b"\\x%02x" % byte
            for byte in os.fsencode(path)
        )
        + b'"'
    )


async def _pinged(path: Path) -> bytes:
    """The line that a Redis answers PING with; empty where nothing answers."""
    try:
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(b"PING\r\n")
                return await reader.readline()
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
    except OSError:
        return b""

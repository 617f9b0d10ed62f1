"""The embedded Redis: a child process of this node on a private Unix socket, with its data in a local directory.

**Invariants**: Redis ends with the node, however the node ends. No two servers use the same directory. The server never
deletes or repairs data by itself.
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
from importlib import resources
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from samedeal_server.embedded_redis import parent_watch
from samedeal_server.embedded_redis.binary import RedisBinary, RedisRelease, find_redis_binary
from samedeal_server.embedded_redis.diagnosis import (
    explain_exit,
    newer_data_error,
    read_log_tail,
)
from samedeal_server.errors import StartupError
from samedeal_server.tasks import cancel_and_wait, uninterrupted

Durability = Literal["always", "everysec"]

_MAX_SOCKET_PATH: Final = 100
"""Maximum length of a socket's path, in bytes. Systems allow 104 to 108."""

MIN_FREE_SPACE: Final = 1_000_000
"""Minimum free space on the disk, in bytes. With less, Redis would start and then fail at one of its first writes."""

_MAX_LOG_SIZE: Final = 1_000_000
_ANSWER_TIMEOUT: Final = 60.0
"""Timeout, in seconds, for an answer while Redis starts.

Each answer restarts the timeout. While Redis loads its data, it answers with an error.
"""

_CONFIGURATION: Final = resources.files("samedeal_server.embedded_redis").joinpath("redis.conf").read_bytes()


class EmbeddedRedis:
    """A Redis that runs as a child process of this node. ``async with`` starts it, yields its URL, and stops it.

    ``data`` is the directory for its append-only file, its log and its lock. If ``durability`` is ``always``, Redis
    writes to disk before it answers. If ``durability`` is ``everysec``, Redis writes to disk within a second.
    ``lock_timeout`` is the timeout, in seconds, for another Redis to release the directory.
    """

    def __init__(self, data: Path, durability: Durability = "always", lock_timeout: float = 5.0) -> None:
        self.data = data.absolute()
        self.durability = durability
        self.lock_timeout = lock_timeout
        self._guard: asyncio.subprocess.Process | None = None
        self._binary: RedisBinary | None = None
        self._descriptors: list[int] = []
        self._log_start = 0

    @property
    def log(self) -> Path:
        """The log file of Redis."""
        return self.data / "redis.log"

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> str:
        """Start Redis and wait until it has loaded its data. Return its URL, which names a Unix socket.

        Raise StartupError ``redis_missing``, ``redis_too_old``, ``redis_failed``, ``data_corrupt``, ``data_in_use``,
        ``data_unwritable`` or ``disk_full`` if Redis cannot start.
        """
        self._binary = binary = await asyncio.to_thread(find_redis_binary, self._writer())
        scratch: Path | None = None
        try:
            with _converted_os_errors(self.data):
                self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = await self._lock()
            self._check_data(binary)
            scratch = _make_scratch_directory()
            socket = scratch / "redis.sock"
            paths = {b"socket": _quoted(socket), b"data": _quoted(self.data)}
            configuration = _CONFIGURATION % {**paths, b"durability": self.durability.encode()}
            (scratch / "redis.conf").write_bytes(configuration)
            await self._spawn(binary, scratch, lock)
            await self._wait_until_ready(socket)
            with _converted_os_errors(self.data):
                self._writer_file.write_text(f"{binary.release}\n")
                self._writer_file.chmod(0o600)
        except BaseException:
            await self.stop()
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)
            raise
        return f"unix://{quote(str(socket))}"

    __aenter__ = start

    async def stop(self) -> None:
        """Stop Redis if it runs. Wait until it has written all data and ended."""
        guard, self._guard = self._guard, None
        descriptors, self._descriptors = self._descriptors, []
        for descriptor in descriptors:
            os.close(descriptor)
        if guard:
            await guard.wait()

    async def raise_on_exit(self) -> None:
        """Wait until Redis ends, and raise a StartupError that explains why.

        The caller must ignore the error if this node has stopped Redis.
        """
        if not self._guard or not self._binary:
            raise RuntimeError("this Redis is not running")
        code = await self._guard.wait()
        log_tail = read_log_tail(self.log, self._log_start)
        raise explain_exit(self.data, self._binary, code, log_tail, self._writer())

    @property
    def _writer_file(self) -> Path:
        return self.data / "written-by"

    def _writer(self) -> RedisRelease | None:
        """Return the release that wrote the data, or None if there are no data or it is not known."""
        try:
            return RedisRelease.parse(self._writer_file.read_text().strip())
        except (OSError, ValueError):
            return None

    def _check_data(self, binary: RedisBinary) -> None:
        """Raise StartupError if Redis is too old to read its data or would ignore the data, or if the disk is full."""
        directory, writer = self.data / "appendonlydir", self._writer()
        # An older release of the same product may read the data nevertheless, and says so if it cannot.
        is_unreadable = writer and writer.valkey != binary.release.valkey and not binary.release.reads_data_of(writer)
        if is_unreadable or (directory.is_dir() and not binary.release.is_at_least((7, 0))):
            raise newer_data_error(self.data, binary, writer)
        if any(directory.glob("*.aof")) and not any(directory.glob("*.manifest")):
            raise StartupError("manifest_missing", directory=directory)
        if shutil.disk_usage(self.data).free < MIN_FREE_SPACE:
            raise StartupError("disk_full", data=self.data, log="")

    async def _lock(self) -> int:
        """Lock the data directory and return the descriptor of the lock.

        Redis inherits the lock and holds it until Redis ends.
        """
        with _converted_os_errors(self.data):
            lock = os.open(self.data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._descriptors.append(lock)
        deadline = asyncio.get_running_loop().time() + self.lock_timeout
        with _converted_os_errors(self.data):
            while not _try_lock(lock):
                if asyncio.get_running_loop().time() >= deadline:
                    owner = os.pread(lock, 20, 0).decode("ascii", "replace")
                    process = f" (process {owner})" if owner.isdecimal() else ""
                    raise StartupError("data_in_use", process=process, data=self.data)
                await asyncio.sleep(0.05)
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
        return lock

    async def _spawn(self, binary: RedisBinary, scratch: Path, lock: int) -> None:
        # The child inherits only the read end, and notices by it when this node has ended.
        read_end, write_end = os.pipe()
        self._descriptors.append(write_end)
        try:
            with _converted_os_errors(self.data):
                log = _open_log(self.log)
            try:
                self._log_start = os.fstat(log).st_size
                # A start that is cancelled now must know the process, or nobody would wait for its end.
                await uninterrupted(self._run(binary, scratch, read_end, lock, log))
            finally:
                os.close(log)
        finally:
            os.close(read_end)

    async def _run(self, binary: RedisBinary, scratch: Path, pipe: int, lock: int, log: int) -> None:
        self._guard = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", parent_watch.__file__, str(pipe), str(lock), str(scratch)),
            *(str(binary.path), str(scratch / "redis.conf")),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(pipe, lock),
            start_new_session=True,
        )

    async def _wait_until_ready(self, path: Path) -> None:
        """Wait until Redis is ready. Raise StartupError if Redis ends or does not answer."""
        loop = asyncio.get_running_loop()
        exit_task = asyncio.create_task(self.raise_on_exit())
        try:
            deadline = loop.time() + _ANSWER_TIMEOUT
            while not (answer := await _ping(path)).startswith(b"+PONG"):
                if answer:
                    deadline = loop.time() + _ANSWER_TIMEOUT
                if loop.time() >= deadline:
                    raise StartupError("redis_silent", seconds=_ANSWER_TIMEOUT, path=self.log)
                if (await asyncio.wait((exit_task,), timeout=0.02))[0]:
                    await exit_task
        finally:
            await cancel_and_wait((exit_task,))


@contextmanager
def _converted_os_errors(data: Path) -> Iterator[None]:
    """Convert errors of the file system from the ``with`` block to StartupError ``data_unwritable``."""
    try:
        yield
    except OSError as error:
        place = f" ({error.filename})" if error.filename and Path(error.filename) != data else ""
        raise StartupError("data_unwritable", data=data, reason=f"{error.strerror}{place}") from None


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_scratch_directory() -> Path:
    """Make a temporary directory for the socket, and return it.

    In the data directory the socket's path could be too long.
    """
    made = Path(tempfile.mkdtemp(prefix="samedeal-"))
    if len(os.fsencode(made)) + len("/redis.sock") > _MAX_SOCKET_PATH:
        made.rmdir()
        made = Path(tempfile.mkdtemp(prefix="samedeal-", dir="/tmp"))  # mkdtemp makes it private
    return made


def _open_log(log: Path) -> int:
    if log.exists() and log.stat().st_size > _MAX_LOG_SIZE:
        log.replace(log.with_suffix(".log.1"))
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _quoted(path: Path) -> bytes:
    """Return a path as it is quoted in a Redis configuration file. The path may contain any byte."""
    return b'"%b"' % b"".join(b"\\x%02x" % byte for byte in os.fsencode(path))


async def _ping(path: Path) -> bytes:
    """Send PING to Redis. Return the first line of the answer, or empty bytes if there is no answer."""
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

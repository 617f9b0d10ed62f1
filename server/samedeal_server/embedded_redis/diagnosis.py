"""Explanations why the embedded Redis ended, which are derived from its log."""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from samedeal_server.embedded_redis.binary import BINARY_VARIABLE, RedisBinary, RedisRelease
from samedeal_server.errors import StartupError

_MAX_LINES: Final = 5
_MAX_BYTES: Final = 16_384

# Messages of Redis 6.2 to 8 and Valkey (aof.c, rdb.c) about unreadable files.
_DAMAGED: Final = re.compile(
    r"reading the append only file|AOF manifest|Unable to obtain the AOF file|AOF file .* doesn't exist|"
    r"Short read or OOM loading DB|Internal error in RDB|Wrong signature|RDB CRC error|AOF loading aborted",
    re.IGNORECASE,
)
_DAMAGED_FILE: Final = re.compile(r"reading the append only file:? ?([\w.]+\.incr\.aof)", re.IGNORECASE)
"""A pattern that finds the name of the damaged file in the log.

The repair command needs this name, because Valkey's repair tool cannot check several files at once.
"""

# Messages of Redis 6.2 to 8 and Valkey (aof.c) when writing fails.
_DISK_FULL: Final = re.compile(r"Short write while writing|No space left on device|Can't recover from AOF write error")

# The data was written by a newer Redis. A version below 10 comes from damage, since every supported Redis reads it.
_NEWER: Final = re.compile(r"Can't handle RDB format version [1-9]\d\b")

_VALKEY_FORMAT: Final = b"VALKEY"

# Lines that every start logs.
_NOISE: Final = re.compile(
    r"oO0OoO0|version=|Configuration loaded|monotonic clock|Running mode|[Ss]erver initialized|WARNING|"
    r"Loading RDB produced|RDB age|RDB memory usage|^\s*$"
)


def read_log_tail(log: Path, start: int = 0) -> str:
    """Return the last lines of a log. Ignore everything before byte ``start``."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(min(start, end), end - _MAX_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        return f"(cannot read its log: {error})"
    return "\n".join([line for line in text.splitlines() if not _NOISE.search(line)][-_MAX_LINES:])


def explain_exit(
    data: Path, binary: RedisBinary, code: int, log_tail: str, writer: RedisRelease | None = None
) -> StartupError:
    """Return an error that explains why Redis ended, judging by the end of its log. ``code`` is its exit code.

    ``writer`` is the release that wrote the data, or None if it is not known. If the log gives no known reason, the
    message quotes the exit code.
    """
    indented = "\n".join(f"    {line}" for line in log_tail.splitlines())
    is_foreign = _DAMAGED.search(log_tail) and not binary.release.valkey and _has_valkey_base(data)
    if is_foreign or _NEWER.search(log_tail):
        return newer_data_error(data, binary, writer, f"\n{indented}")
    if _DAMAGED.search(log_tail):
        damaged, repair = _append_only_file(data, log_tail), ""
        if damaged.is_file():
            repair = f"Or make a copy of the directory '{data}', then cut the file off where the damage begins:\n"
            repair += f"    {_repair_command(binary, damaged)}\n"
        return StartupError("data_corrupt", damaged=damaged, repair=repair, log=indented)
    if _DISK_FULL.search(log_tail):
        return StartupError("disk_full", data=data, log=f"\n{indented}")
    path, log = data / "redis.log", indented or "    (empty)"
    return StartupError("redis_failed", binary=binary, exit_code=code, path=path, log=log)


def _has_valkey_base(data: Path) -> bool:
    """Return whether the data begin with a snapshot in the format of Valkey 9.0 or newer, which no Redis can read."""
    for base in data.glob("appendonlydir/*.base.rdb"):
        with suppress(OSError), base.open("rb") as file:
            if file.read(len(_VALKEY_FORMAT)) == _VALKEY_FORMAT:
                return True
    return False


def newer_data_error(data: Path, binary: RedisBinary, writer: RedisRelease | None, log: str = "") -> StartupError:
    """Return the error about data that this program cannot read, although they are not damaged.

    ``writer`` is the release that wrote them, or None if it is not known.
    """
    newer = str(writer) if writer else "a newer Redis or Valkey"
    needed = f"{writer} or a newer release of it" if writer else "the program that wrote them"
    return StartupError(
        "data_of_a_newer_redis",
        data=data,
        binary=binary,
        newer=newer,
        needed=needed,
        variable=BINARY_VARIABLE,
        log=log,
    )


def _append_only_file(data: Path, log_tail: str) -> Path:
    """Return the damaged append-only file.

    Redis 7.0 or newer and Valkey keep several such files in a directory. If the log does not name the damaged one,
    return the directory.
    """
    directory = data / "appendonlydir"
    if named := _DAMAGED_FILE.search(log_tail):
        return directory / named[1]
    return directory if directory.exists() else data / "appendonly.aof"


def _repair_command(binary: RedisBinary, damaged: Path) -> str:
    """Return a shell command that repairs a damaged file.

    The tool for this is redis-check-aof. If it is not installed, the command starts redis-server under the name of the
    tool. Then redis-server behaves like the tool.
    """
    directory = binary.path.parent
    for name in ("redis-check-aof", "valkey-check-aof"):
        if found := shutil.which(name, path=str(directory)) or shutil.which(name):
            return shlex.join([found, "--fix", str(damaged)])
    return (
        f"bash -c {shlex.quote(shlex.join(['exec', '-a', 'redis-check-aof', str(binary.path), '--fix', str(damaged)]))}"
    )

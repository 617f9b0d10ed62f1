"""Checks that all nodes and all rooms in one Redis have compatible versions.

The schema version is one number for everything stored in Redis. A room keeps the schema version and the engine version
with which it was opened. ARCHITECTURE.md, *Versions*, says when the schema version is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

import samedeal
from samedeal.protocol.codec import unpack
from samedeal.race.openings import rules_of
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal.utc_text import utc_text
from samedeal_server.errors import StartupError

SCHEMA_VERSION: Final = 2
"""The schema version of the rooms that this release opens."""

_Value = TypeVar("_Value")

WINDOW_SCHEMA_VERSION: Final = 3
"""The schema version of rooms with a window, which older releases cannot serve."""

READABLE_VERSIONS: Final = range(2, 4)
"""The schema versions of the rooms that this release can serve. They include the previous release's ``SCHEMA_VERSION``."""

_ENGINE: Final = str(samedeal.ENGINE).encode()


def room_versions(race: Race) -> tuple[bytes, bytes]:
    """Return the schema version and the engine version that this release stores with a new room."""
    return str(WINDOW_SCHEMA_VERSION if race.window else SCHEMA_VERSION).encode(), _ENGINE


@contextmanager
def reading() -> Iterator[None]:
    """Raise RequestRefused ``other_version`` if a value that is decoded in the ``with`` block has an unknown form.

    Every value from Redis is decoded in such a block, or by ``readable``. A release that was tested wrote it, so the form
    is that of another release. Decoding says so by a ValueError: any other error is a fault of this release.
    """
    try:
        yield
    except ValueError as error:
        raise refused("other_version", version=samedeal.__version__) from error


def stored(value: bytes | None) -> bytes:
    """Return a field of a stored value. Raise ValueError if there is none."""
    if value is None:
        raise ValueError("a field is missing")
    return value


def readable(values: Iterable[bytes | None], kind: type[_Value]) -> list[_Value]:
    """Decode the values of a list. Leave out those that do not exist, or that only another release can read."""
    found: list[_Value] = []
    for value in values:
        with suppress(ValueError):
            if value is not None:
                found.append(unpack(value, kind))
    return found


def read_race(race: bytes | None, schema: bytes | None, engine: bytes | None) -> Race:
    """Decode a stored race. Raise RequestRefused ``other_version`` if this release cannot serve the race."""
    with reading():
        decoded = unpack(stored(race), Race)
        if int(schema or 0) not in READABLE_VERSIONS or engine != _ENGINE:
            raise ValueError
        if decoded.rules not in (b"", rules_of(decoded)):
            raise ValueError
        return decoded


def check_records(records: Iterable[tuple[bytes, bytes]], since: int) -> None:
    """Raise StartupError if nodes have used this Redis with a schema version that this release cannot read.

    The code of the error is ``store_newer`` or ``store_older``. ``records`` are the fields and values of
    ``keys.SCHEMAS``. Nodes that last ran before ``since``, in milliseconds since 1970, are ignored.
    """
    for name, value in sorted(records, reverse=True):
        version, (time, release) = int(name), value.decode().split(" ")
        if int(time) < since or version in READABLE_VERSIONS:
            continue
        day = utc_text(int(time))[:10]
        problem = (
            f"Samedeal {release} last used this Redis on {day}, with schema version {version}. "
            f"This release, {samedeal.__version__}, reads only schema version {' and '.join(map(str, READABLE_VERSIONS))}."
        )
        if version > READABLE_VERSIONS[-1]:
            raise StartupError("store_newer", problem=problem)
        raise StartupError("store_older", problem=problem)

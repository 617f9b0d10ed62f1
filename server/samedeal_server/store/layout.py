"""Which versions of Samedeal can share one Redis.

A layout is a number for everything that is kept: keys, hashes, events, what the scripts read and write. A room keeps the one
that it was opened with, and the version of the rules, for life. What may change within a layout, and how the number is
raised so that two releases can run side by side, says ARCHITECTURE.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from msgspec import ValidationError

import samedeal
from samedeal.errors import Refused
from samedeal.protocol.codec import unpack
from samedeal_server.errors import StartupError
from samedeal_server.race import Race

LAYOUT: Final = 1
"""The layout of the rooms that are opened here."""

READABLE: Final = range(1, 2)
"""The layouts of the rooms that can be served here: those of the release before are among them, if not more."""

COME_BACK: Final = 5.0
"""Seconds after which a client may find a node of the room's own version."""

WRITTEN: Final = (str(LAYOUT).encode(), str(samedeal.ENGINE).encode())
"""What is noted with a room when it is opened: its layout, and the version of the rules."""


def read_race(room: str, race: bytes, layout: bytes | None, engine: bytes | None) -> Race:
    """A race as it is kept, with what is noted with it. Raises Refused ``other_version`` where it can't be served here."""
    if int(layout or 0) in READABLE and engine == WRITTEN[1]:
        try:
            return unpack(race, Race)
        except ValidationError:  # a game or a rule of another version
            pass
    raise Refused(
        "other_version",
        f"The room {room!r} was opened by another version of Samedeal than this server's, {samedeal.__version__}: "
        "come back, another server may know it",
        retry_after=COME_BACK,
    )


def mark(now: int) -> tuple[str, str]:
    """What a node that runs leaves in Redis: its layout, and when that was and what version it is."""
    return str(LAYOUT), f"{now} {samedeal.__version__}"


def check(marks: Iterable[tuple[bytes, bytes]], since: int) -> None:
    """Whether the marks of other nodes that were made since a time, in milliseconds, let this one share their Redis.

    Raises StartupError ``store_newer`` or ``store_older``.
    """
    for name, value in sorted(marks, reverse=True):
        layout, (at, version) = int(name), value.decode().split(" ")
        if int(at) < since or layout in READABLE:
            continue
        day = datetime.fromtimestamp(int(at) / 1000, UTC).date().isoformat()
        said = (
            f"Samedeal {version} has kept rooms in this Redis until {day}, in layout {layout}, "
            f"and this version, {samedeal.__version__}, reads layout {' and '.join(map(str, READABLE))}"
        )
        if layout > READABLE[-1]:
            raise StartupError(
                "store_newer", f"{said}: update this node, or give it another Redis with --redis or --data"
            )
        raise StartupError(
            "store_older",
            f"{said}: run a release from between the two first, or give this node another Redis with --redis or --data",
        )

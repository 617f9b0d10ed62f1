"""Notices that another release was installed over the running one.

A node imports some modules late and starts processes that search for deals, which would then be of the other release.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import samedeal
from samedeal_server.errors import StartupError
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.logger import get_logger

INTERVAL: Final = 2.0
"""Interval, in seconds, between two looks at the installed package."""


@asynccontextmanager
async def stopping_for_other_release(stop: asyncio.Event) -> AsyncIterator[None]:
    """Set ``stop`` when the installed package is no longer the one that runs, or is gone.

    Raise StartupError at the end of the ``async with`` block if that has happened, so that systemd starts the node again.
    """

    async def watch() -> None:
        before = _installed()
        while _installed() == before:  # noqa: ASYNC110  # nobody tells
            await asyncio.sleep(INTERVAL)
        get_logger().error("package_changed", package=str(Path(samedeal.__file__).parent))
        stop.set()

    watching = asyncio.create_task(watch())
    try:
        yield
        if watching.done():
            raise StartupError("package_changed")
    finally:
        await cancel_and_wait([watching])


def _installed() -> tuple[int, int]:
    """Return what tells one installation of the package from another."""
    try:
        status = Path(samedeal.__file__).stat()
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns

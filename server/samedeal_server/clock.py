"""The store's clock as a node knows it: good for waking up in time; what counts is decided by the store itself."""

from __future__ import annotations

import time
from typing import Final

from samedeal_server.store.redis import Store

EVERY: Final = 10.0
"""Seconds between two looks at the store's clock."""


class Clock:
    """Milliseconds since 1970 by the store's clock, never ahead of it by more than the two drift between looks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._offset = 0.0

    async def look(self) -> None:
        """Read the store's clock; the answer's way back makes this one late, which is the safe side."""
        there = await self._store.now()
        self._offset = there - 1000 * time.monotonic()

    def now(self) -> int:
        """The store's time."""
        return int(1000 * time.monotonic() + self._offset)

    def seconds_until(self, when: int) -> float:
        """How long to wait for a time, at least 0; a little longer rather than too short."""
        return max(0.0, (when - self.now() + 2) / 1000)

"""A node's copy of the store's clock. It only schedules timers. Redis itself decides deadlines."""

from __future__ import annotations

import time
from typing import Final

from samedeal_server.store.store import Store

CLOCK_SYNC_INTERVAL: Final = 10.0
"""Interval, in seconds, between two synchronisations with the store's clock."""


class StoreClock:
    """The store's time in milliseconds since 1970.

    It is never ahead of the store, except by what the two clocks have drifted apart since the last ``sync``.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._offset = 0.0

    async def sync(self) -> None:
        """Synchronise with the store. This clock then lags by the latency of the answer, so that timers never fire early."""
        store_time = await self._store.now()
        self._offset = store_time - 1000 * time.monotonic()

    def now(self) -> int:
        """Return the store's time."""
        return int(1000 * time.monotonic() + self._offset)

    def seconds_until(self, store_time: int) -> float:
        """Return the seconds until ``store_time``, rounded up, or 0 if it has passed."""
        return max(0.0, (store_time - self.now() + 2) / 1000)

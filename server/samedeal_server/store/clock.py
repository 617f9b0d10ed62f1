"""A node's estimate of the time of Redis. Redis itself decides when a race begins and ends."""

from __future__ import annotations

import time
from typing import Final

from samedeal_server.store.store import Store

CLOCK_SYNC_INTERVAL: Final = 10.0
"""Interval, in seconds, between two synchronisations with the store's clock."""


class StoreClock:
    """The time of Redis, as this node estimates it, in milliseconds since 1970.

    The estimate is never ahead of Redis, except by the drift between the two clocks since the last ``sync``.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._offset = 0.0

    async def sync(self) -> None:
        """Read the time of Redis.

        The estimate then lags behind Redis by the latency of the answer, so that timers fire late rather than early.
        """
        store_time = await self._store.now()
        self._offset = store_time - 1000 * time.monotonic()

    def now(self) -> int:
        """Return the estimated time of Redis, in milliseconds since 1970."""
        return int(1000 * time.monotonic() + self._offset)

    def seconds_until(self, store_time: int) -> float:
        """Return the seconds until ``store_time``, a time of Redis in milliseconds since 1970.

        2 ms are added, so that a timer does not fire early. The result is never negative.
        """
        return max(0.0, (store_time - self.now() + 2) / 1000)

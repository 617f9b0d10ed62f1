"""A queue in which the commands of this node to one race wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from samedeal_server.errors import StoreUnavailable


class CommandQueue:
    """A queue in which the commands of this node to one race wait for their turn.

    Each command loads the race and replaces it by compare-and-set. If several commands did so at the same time, only
    one would succeed, and all others would have to load the race again.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._outages = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, which lasts until the ``with`` block ends.

        Raise StoreUnavailable if Redis has failed for another command in the meantime, so that the waiting commands do
        not time out one after another.
        """
        outages = self._outages
        async with self._lock:
            if self._outages != outages:
                raise StoreUnavailable("the store was unavailable when an earlier command was applied")
            try:
                yield
            except StoreUnavailable:
                self._outages += 1
                raise

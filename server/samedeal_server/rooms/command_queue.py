"""A queue for the commands of one node to one race, which are applied one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from samedeal_server.errors import StoreUnavailable


class CommandQueue:
    """Makes the commands to one race take turns.

    Each command loads the race and replaces it by compare-and-set. If several did so at the same time, only one would
    succeed, and all others would have to load the race again.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._outages = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn.

        Raises StoreUnavailable if an earlier command has found the store unavailable in the meantime. Otherwise each
        waiting command would run into the store's timeout, one after another.
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

"""The commands of one node to one race: they are applied one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from samedeal_server.errors import StoreUnavailable


class CommandQueue:
    """Gives turns to the commands to one race.

    Each command loads the race and replaces it by compare-and-set. Of several at the same time only one would succeed, and
    all others would have to load the race again.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._outages = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn.

        If the store is unavailable in the turn of an earlier command, raise StoreUnavailable at once. Otherwise all who wait
        would have to wait for the store's timeout one after another.
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

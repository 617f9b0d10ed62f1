"""The daily deals that a node has found.

The node searches for each deal only once, although several rooms may need it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec.structs import replace

from samedeal.joint_deal import HIGHEST_CANDIDATE
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate
from samedeal_server.tasks import cancel_and_wait

MAX_DEALS: Final = 64
"""Maximum number of deals that a node remembers. A further deal replaces the deal that was searched first."""


class PublicDeals:
    """Finds daily deals with the workers of a pool."""

    def __init__(self, pool: SolverPool) -> None:
        self._pool = pool
        self._searches: dict[Candidate, asyncio.Task[tuple[int, str]]] = {}

    async def find(self, first: Candidate) -> tuple[int, str]:
        """Search the candidates from ``first`` on.

        Return the number of the first one that the solver wins, and the winning moves. Rooms that need the same deal at
        the same time wait for the same search.
        """
        search = self._searches.get(first)
        if search is None or (search.done() and (search.cancelled() or search.exception())):
            if len(self._searches) >= MAX_DEALS:
                del self._searches[next(iter(self._searches))]
            search = self._searches[first] = asyncio.create_task(self._search(first))
        return await asyncio.shield(search)

    async def _search(self, first: Candidate) -> tuple[int, str]:
        for number in range(first.number, HIGHEST_CANDIDATE + 1):
            if line := await self._pool.solve(replace(first, number=number)):
                return number, line
        raise AssertionError("some candidate can be won")

    async def close(self) -> None:
        """Cancel all searches and wait until they have ended."""
        await cancel_and_wait(self._searches.values())

"""The daily deals that a node has found.

The node searches for each deal only once, although several rooms may need it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from samedeal_server.solving.pool import Solvers, candidates_from, set_after
from samedeal_server.solving.worker import Candidate
from samedeal_server.tasks import cancel_and_wait

MAX_DEALS: Final = 64
"""Maximum number of deals that a node remembers. A further deal replaces the deal that was searched first."""


class PublicDeals:
    """Finds daily deals with the workers of a node."""

    def __init__(self, solvers: Solvers) -> None:
        self._solvers = solvers
        self._searches: dict[Candidate, tuple[asyncio.Task[tuple[int, str] | None], asyncio.Event]] = {}

    async def find(self, first: Candidate, due_in: float) -> tuple[int, str] | None:
        """Search the candidates from ``first`` on.

        Return the number of the first one that the solver wins, and the winning moves, or None if the search was given
        up. Rooms that need the same deal at the same time wait for the same search. It is late as soon as one of them
        is: ``due_in`` seconds from now.
        """
        search, late = self._searches.get(first, (None, asyncio.Event()))
        set_after(late, due_in)
        if search is None or (search.done() and (search.cancelled() or search.exception() or search.result() is None)):
            if len(self._searches) >= MAX_DEALS:
                del self._searches[next(iter(self._searches))]
            search = asyncio.create_task(self._search(first, late))
            self._searches[first] = search, late
        return await asyncio.shield(search)

    async def _search(self, first: Candidate, late: asyncio.Event) -> tuple[int, str] | None:
        for candidate in candidates_from(first):
            if line := await self._solvers.solve(candidate, late):
                return candidate.number, line
        return None

    async def close(self) -> None:
        """Cancel all searches and wait until they have ended."""
        await cancel_and_wait([search for search, _ in self._searches.values()])

"""The search for the joint and daily deals of rooms."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec.structs import replace

from samedeal.joint_deal import HIGHEST_CANDIDATE
from samedeal.race.draws import mixed
from samedeal.race.values import FoundDeal, Race
from samedeal.sentences import refused
from samedeal_server.rooms.duties import Duties
from samedeal_server.solving.daily_deals import PublicDeals
from samedeal_server.solving.pool import SolverPool
from samedeal_server.solving.worker import Candidate
from samedeal_server.store.store import Store


class DealSearch:
    """Searches for the joint and daily deals of rooms, under the leases of the rooms.

    ``searching`` has the rooms for whose deals this node searches, or is about to.
    """

    def __init__(self, store: Store, duties: Duties) -> None:
        self._store = store
        self._duties = duties
        self.searching: dict[str, asyncio.Task[tuple[int, str] | None] | None] = {}
        self._solvers = SolverPool()
        self._public_deals = PublicDeals(self._solvers)

    async def search(self, room: str, fix_deal: Callable[[str, FoundDeal], Awaitable[object]]) -> None:
        """Search for the deal of a room, unless another node is searching. Pass the deal to ``fix_deal``.

        If the search fails or this node loses the lease, the room's next tick starts it again.
        """
        if room in self.searching:
            return
        self.searching[room] = None
        try:
            await self._duties.do(room, partial(self._search, room, fix_deal))
        finally:
            del self.searching[room]

    async def _search(self, room: str, fix_deal: Callable[[str, FoundDeal], Awaitable[object]]) -> None:
        snapshot, secret = await self._store.load(room), await self._store.load_secret(room)
        if snapshot is None:
            raise refused("no_room", room=room)
        race = snapshot.race
        if secret is None or not race.needs_search:
            return
        mix = mixed(secret.deal.seed, race.draw.shares)
        first = Candidate(mix, race.game.name, race.search.budget, 0, race.search.least)
        finding = self._find_joint(race, first) if race.is_joint else self._public_deals.find(first)
        task = self.searching[room] = asyncio.ensure_future(finding)
        try:
            found = await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if not task.cancelled() or (current is not None and current.cancelling()):
                raise
            return  # nobody waits for the deal any more
        if found is not None:
            await fix_deal(room, FoundDeal(race.draw.number, race.draw.shares, *found))

    def give_up(self, room: str) -> None:
        """End the search for the deal of a room, if there is one, because nobody waits for the deal any more."""
        task = self.searching.get(room)
        if task is not None:
            task.cancel()

    async def _find_joint(self, race: Race, first: Candidate) -> tuple[int, str] | None:
        """Return the number and the solution of the first candidate deal that can be won.

        Return None if nobody waits for the deal any more. The origin of the host stands for the room when candidates wait
        for their turns.
        """
        host = race.racer(race.host)
        origin = host.origin if host is not None and host.origin else race.room
        for number in range(HIGHEST_CANDIDATE + 1):
            if line := await self._solvers.solve(replace(first, number=number), origin, race.room):
                return number, line
            snapshot = await self._store.load(race.room)
            if snapshot is None or not snapshot.race.needs_search or snapshot.race.draw.number != race.draw.number:
                return None
        raise AssertionError("some candidate can be won")

    async def close(self) -> None:
        """End the solvers. Call this method only when ``search`` is not running."""
        await self._public_deals.close()
        await self._solvers.close()

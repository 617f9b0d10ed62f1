"""The search for the joint and daily deals of rooms."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from samedeal.deal import Deal
from samedeal.protocol.messages import EarlierPlayer
from samedeal.race.commands import FixDealCommand, GiveUpDealCommand, RaceCommand
from samedeal.race.draws import mixed
from samedeal.race.values import FoundDeal, Race
from samedeal.sentences import refused
from samedeal_server.races.earlier import attempts_near
from samedeal_server.rooms.duties import Duties
from samedeal_server.solving.daily_deals import PublicDeals
from samedeal_server.solving.pool import SolverFailed, Solvers, candidates_from, set_after
from samedeal_server.solving.worker import Candidate
from samedeal_server.store.store import Store
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

Command = Callable[[str, RaceCommand], Awaitable[object]]
"""Applies a command to the race of a room."""

_DEFERENCE: Final = 2.0
"""Time, in seconds, for which a node whose solver is broken leaves a search to the other nodes."""

_log = get_logger()


class DealSearch:
    """Searches for the joint and daily deals of rooms, under the leases of the rooms.

    ``searching`` has the rooms for whose deals this node searches, or is about to.
    """

    def __init__(self, store: Store, duties: Duties, metrics: Metrics) -> None:
        self._store = store
        self._duties = duties
        self.searching: dict[str, asyncio.Task[tuple[int, str] | None] | None] = {}
        self.solvers = Solvers(metrics)
        self._public_deals = PublicDeals(self.solvers)
        self._begun: dict[str, float] = {}
        metrics.oldest_deal_search_seconds.set_function(self._oldest)

    async def search(self, room: str, command: Command) -> None:
        """Search for the deal of a room, unless another node is searching. Fix the deal, or close the room without one.

        If the search fails or this node loses the lease, the room's next tick starts it again.
        """
        if room in self.searching:
            return
        self.searching[room] = None
        try:
            if self.solvers.health.fault:
                await asyncio.sleep(_DEFERENCE)
            await self._duties.do(room, partial(self._search, room, command))
        finally:
            del self.searching[room]

    async def _search(self, room: str, command: Command) -> None:
        snapshot, secret = await self._store.load(room), await self._store.load_secret(room)
        if snapshot is None:
            raise refused("no_room", room=room)
        race = snapshot.race
        if secret is None or not race.needs_search:
            return
        mix = mixed(secret.deal.seed, race.draw.shares)
        first = Candidate(mix, race.game.name, race.search.budget, 0, race.search.least)
        due_in = 0.0 if race.draw.is_late else max(0, race.starts - snapshot.now) / 1000
        finding = self._find_joint(race, first, due_in) if race.is_joint else self._public_deals.find(first, due_in)
        task = self.searching[room] = asyncio.ensure_future(finding)
        self._begun[room] = time.monotonic()
        found, reason = None, "no candidate was won"
        try:
            found = await task
        except SolverFailed as failed:
            reason = str(failed)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if not task.cancelled() or (current is not None and current.cancelling()):
                raise
            return  # nobody waits for the deal any more
        finally:
            del self._begun[room]
        if found is None:
            _log.error("deal_not_found", room=room, game=race.game.name, deal=race.deal, reason=reason)
            await command(room, GiveUpDealCommand(race.draw.number))
        else:
            found_deal = FoundDeal(race.draw.number, race.draw.shares, *found)
            await command(room, FixDealCommand(found_deal, await self._attempts(race)))

    async def _attempts(self, race: Race) -> tuple[EarlierPlayer, ...]:
        """Return the attempts at a daily deal against which the only person in a race races."""
        people = [racer.player for racer in race.racers if not racer.bot]
        if Deal.parse(race.deal).kind != "daily" or len(people) != 1:
            return ()
        past = await self._store.earlier.past(people[0])
        races = await self._store.earlier.of_game(race.game.name)
        return attempts_near(races.values(), race.deal, people[0], past.pace)

    def _oldest(self) -> float:
        return time.monotonic() - min(self._begun.values()) if self._begun else 0.0

    def stop(self, room: str) -> None:
        """End the search for the deal of a room, if there is one, because nobody waits for the deal any more."""
        task = self.searching.get(room)
        if task is not None:
            task.cancel()

    async def _find_joint(self, race: Race, first: Candidate, due_in: float) -> tuple[int, str] | None:
        """Return the number and the solution of the first candidate deal that can be won, or None if there is none.

        Raise CancelledError if nobody waits for the deal any more. The origin of the host stands for the room when
        candidates wait for their turns.
        """
        host = race.racer(race.host)
        origin = host.origin if host is not None and host.origin else race.room
        late = asyncio.Event()
        set_after(late, due_in)
        for candidate in candidates_from(first):
            if line := await self.solvers.solve(candidate, late, origin, race.room):
                return candidate.number, line
            snapshot = await self._store.load(race.room)
            if snapshot is None or not snapshot.race.needs_search or snapshot.race.draw.number != race.draw.number:
                raise asyncio.CancelledError
        return None

    async def close(self) -> None:
        """End the solvers. Call this method only when ``search`` is not running."""
        await self._public_deals.close()
        await self.solvers.close()

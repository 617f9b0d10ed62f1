"""The duties of rooms that one node does for all: the search for a deal, and the record of a race.

A node has the lease of a room only while it does one of them. Whatever it writes may be written twice, because a node
that was suspended does not know at once that its lease has expired.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from samedeal_server.errors import StoreUnavailable
from samedeal_server.loop_timers import LOOP_TIMERS, Timers
from samedeal_server.store.store import LEASE, Store
from samedeal_server.tasks import cancel_and_wait

RENEWAL_INTERVAL: Final = 2.0
"""Interval, in seconds, at which a node renews a lease that it has."""


class Duties:
    """Does duties of rooms while this node has their leases."""

    def __init__(self, store: Store, node: str) -> None:
        self._store = store
        self._node = node
        self.timers: Timers = LOOP_TIMERS

    async def do(self, room: str, work: Callable[[], Coroutine[Any, Any, object]]) -> bool:
        """Do ``work`` under the lease of a room, and return whether it was done.

        Do not begin if another node has the lease, and stop if this node loses it. Some node ticks the room after at
        most ``LEASE``, whatever happens, so that no duty is lost. Raise StoreUnavailable if Redis fails.
        """
        holder = f"{self._node} {secrets.token_hex(8)}"
        if not await self._hold(room, "", holder):
            return False
        doing, renewing = asyncio.ensure_future(work()), asyncio.ensure_future(self._renew(room, holder))
        try:
            await asyncio.wait((doing, renewing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            finished = doing.done()
            await cancel_and_wait((doing, renewing))
            with suppress(StoreUnavailable):  # then it expires
                await self._store.replace_lease(room, holder, "", LEASE)
        (doing if finished else renewing).result()  # raises its error
        return finished

    async def _renew(self, room: str, holder: str) -> None:
        """Renew a lease until it is lost, or may have expired while Redis was unavailable."""
        renewed_at = self.timers.monotonic()
        while True:
            await self.timers.sleep(RENEWAL_INTERVAL)
            asked_at = self.timers.monotonic()
            try:
                if not await self._hold(room, holder, holder):
                    return
                renewed_at = asked_at
            except StoreUnavailable:
                if 1000 * (self.timers.monotonic() - renewed_at) >= LEASE:
                    return

    async def _hold(self, room: str, before: str, holder: str) -> bool:
        """Take or renew a lease. Return whether this node has it now."""
        with suppress(StoreUnavailable):  # the part of a cluster that has the index may be unavailable
            now = await self._store.now()
            await self._store.index.reschedule(room, now, now + LEASE)
        return await self._store.replace_lease(room, before, holder, LEASE)

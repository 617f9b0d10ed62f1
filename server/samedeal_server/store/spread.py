"""The store on a cluster: no primary is waited for but by those who are about what it has."""

from __future__ import annotations

import asyncio
from typing import Final

from redis.exceptions import TimeoutError as NoAnswer

from samedeal_server.metrics import Metrics
from samedeal_server.store import keys
from samedeal_server.store.address import Host, named
from samedeal_server.store.cluster import Cluster
from samedeal_server.store.commits import Commit, GroupCommit, Verdict
from samedeal_server.store.database import on
from samedeal_server.store.redis import Store

_SLOW: Final = 1.0
"""Seconds after which a primary that has not taken a write counts as one that takes none."""


class SpreadStore(Store):
    """A store whose rooms are spread over primaries, of which one may be slow, frozen or lost, or lack its replicas."""

    def __init__(self, redis: Cluster, metrics: Metrics | None = None) -> None:
        super().__init__(redis, metrics)
        self._cluster = redis
        self._lanes: dict[Host | None, GroupCommit] = {}

    async def commit(self, commit: Commit) -> Verdict:
        """As Store does, in a batch with others to the primary that has the room."""
        primary = self._cluster.holder(keys.meta(commit.room))
        if primary not in self._lanes:
            self._lanes[primary] = GroupCommit(self._commit_batch)
        return await self._lanes[primary].commit(commit)

    async def probe(self) -> str:
        """As Store does, at each primary; raises only where none takes writes."""
        places = await self._cluster.variants(keys.PROBE)
        found = await asyncio.gather(*(self._try(key) for key in places.values()))
        lacking = {named(place): error for place, error in zip(places, found, strict=True) if error is not None}
        if len(lacking) == len(places):
            raise next(iter(lacking.values()))
        return "; ".join(f"{place} ({str(error) or type(error).__name__})" for place, error in lacking.items())

    async def _try(self, key: str) -> Exception | None:
        try:
            async with asyncio.timeout(_SLOW):
                (answer,) = await self._attempt([on("SET", key, "1", "PX", 1000)], kept=True)
        except TimeoutError:
            return NoAnswer(f"no answer for {_SLOW:g} seconds")
        return answer if isinstance(answer, Exception) else None

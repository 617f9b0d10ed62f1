"""The store on a Redis Cluster. A slow or unreachable primary delays only the rooms on that primary."""

from __future__ import annotations

import asyncio
from typing import Final

from redis.exceptions import TimeoutError as RedisTimeoutError

from samedeal_server.store import keys
from samedeal_server.store.address import Host, format_host
from samedeal_server.store.group_commit import Commit, CommitResult, GroupCommit
from samedeal_server.store.redis_client import command, converted_errors, unavailable
from samedeal_server.store.redis_cluster import ClusterClient
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics

_PROBE_TIMEOUT: Final = 1.0
"""Timeout, in seconds, for a primary to accept a probe."""


class ClusterStore(Store):
    """A store with one group commit for each primary."""

    def __init__(self, cluster: ClusterClient, metrics: Metrics) -> None:
        super().__init__(cluster, metrics)
        self._cluster = cluster
        self._commits_by_primary: dict[Host | None, GroupCommit] = {}

    async def commit(self, commit: Commit) -> CommitResult:
        """Commit an action in one batch with other actions on the same primary. Return when the action is durable."""
        primary = self._cluster.primary_for(keys.meta(commit.room))
        if primary not in self._commits_by_primary:
            self._commits_by_primary[primary] = GroupCommit(self._commit_batch)
        return await self._commits_by_primary[primary].commit(commit)

    async def probe(self) -> str:
        """Test whether each primary accepts writes.

        Return a text that names the primaries that do not accept writes, or an empty string. Raise StoreUnavailable if
        no primary accepts writes.
        """
        with converted_errors():
            probe_keys = await self._cluster.variants(keys.PROBE)
        results = await asyncio.gather(*(self._probe_primary(key) for key in probe_keys.values()))
        failed = {
            format_host(host): error for host, error in zip(probe_keys, results, strict=True) if error is not None
        }
        if len(failed) == len(probe_keys):
            raise unavailable(next(iter(failed.values())))
        return "; ".join(f"{host} ({str(error) or type(error).__name__})" for host, error in failed.items())

    async def _probe_primary(self, key: str) -> Exception | None:
        try:
            async with asyncio.timeout(_PROBE_TIMEOUT):
                (answer,) = await self.executor.try_execute([command("SET", key, "1", "PX", 1000)], durable=True)
        except TimeoutError:
            return RedisTimeoutError(f"no answer for {_PROBE_TIMEOUT:g} seconds")
        return answer if isinstance(answer, Exception) else None

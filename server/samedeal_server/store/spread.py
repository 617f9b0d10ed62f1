"""The store on a cluster: the commits to each primary travel on their own, so that none waits for another primary."""

from __future__ import annotations

from samedeal_server.metrics import Metrics
from samedeal_server.store import keys
from samedeal_server.store.address import Host
from samedeal_server.store.cluster import Cluster
from samedeal_server.store.commits import Commit, GroupCommit, Verdict
from samedeal_server.store.redis import Store


class SpreadStore(Store):
    """A store whose rooms are spread over primaries, of which one may be slow, frozen or lost, or lack its replicas."""

    def __init__(self, redis: Cluster, metrics: Metrics | None = None) -> None:
        super().__init__(redis, metrics)
        self._lanes: dict[Host | None, GroupCommit] = {}

    async def commit(self, commit: Commit) -> Verdict:
        """As Store does, in a batch with others to the primary that has the room."""
        primary = self.redis.holder(keys.meta(commit.room))
        if primary not in self._lanes:
            self._lanes[primary] = GroupCommit(self._commit_batch)
        return await self._lanes[primary].commit(commit)

"""Group commit without a store: which commits share a batch, and what a failed one means for the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.group_commit import MAX_BATCH, Commit, CommitResult, GroupCommit
from tests.server.commits import commit_of


class HeldStore:
    """Answers batches once it may. ``failing`` are the players whose commits fail."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.sent: list[list[str]] = []
        self.sending, self.may_answer = asyncio.Event(), asyncio.Event()
        self.commits = GroupCommit(self._send)

    async def _send(self, batch: list[Commit]) -> list[CommitResult | Exception]:
        players = [each.moved.player for each in batch]
        self.sent.append(players)
        self.sending.set()
        await self.may_answer.wait()
        return [StoreUnavailable("slot") if each in self.failing else CommitResult("ok") for each in players]

    async def commit(self, *players: str, queued: Sequence[str] = ()) -> list[str]:
        """Commit moves of players, and of others while these are sent. Return the outcomes."""
        first = [asyncio.ensure_future(self.commits.commit(commit_of(player))) for player in players]
        await self.sending.wait()
        others = [asyncio.ensure_future(self.commits.commit(commit_of(player))) for player in queued]
        await asyncio.sleep(0)
        self.may_answer.set()
        found = await asyncio.gather(*first, *others, return_exceptions=True)
        return [each.outcome if isinstance(each, CommitResult) else type(each).__name__ for each in found]


async def test_failed_commit_fails_no_other_player_s() -> None:
    """As when one slot of a cluster is unavailable: only its commits fail."""
    store = HeldStore("ana")
    assert await store.commit("ana", "bob", queued=["cid"]) == ["StoreUnavailable", "ok", "ok"]
    assert store.sent == [["ana", "bob"], ["cid"]]


async def test_batch_is_bounded() -> None:
    store = HeldStore()
    await store.commit(*(f"p{number}" for number in range(MAX_BATCH + 3)))
    assert list(map(len, store.sent)) == [MAX_BATCH, 3]


async def test_queued_commits_fail_with_a_failed_batch() -> None:
    store = HeldStore("ana")
    assert await store.commit("ana", queued=["bob", "cid"]) == ["StoreUnavailable"] * 3
    assert store.sent == [["ana"]]
    assert await store.commit("bob") == ["ok"]

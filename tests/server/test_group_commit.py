"""Group commit without a store: which commits share a batch, and what a failed one means for the others."""

from __future__ import annotations

import asyncio

import pytest

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.group_commit import MAX_BATCH, Commit, CommitResult, GroupCommit
from tests.server.commits import commit_of


async def test_failed_commit_fails_no_other_player_s() -> None:
    """As when one slot of a cluster is unavailable: only its commits fail."""
    sent: list[list[str]] = []
    sending, may_answer = asyncio.Event(), asyncio.Event()

    async def send(batch: list[Commit]) -> list[CommitResult | Exception]:
        sent.append([each.moved.player for each in batch])
        sending.set()
        await may_answer.wait()
        return [StoreUnavailable("slot") if each.moved.player == "ana" else CommitResult("ok") for each in batch]

    commits = GroupCommit(send)
    first = [asyncio.ensure_future(commits.commit(commit_of(player))) for player in ("ana", "bob")]
    await sending.wait()
    queued = asyncio.ensure_future(commits.commit(commit_of("cid")))
    await asyncio.sleep(0)
    may_answer.set()
    with pytest.raises(StoreUnavailable):
        await first[0]
    assert (await first[1]).outcome == "ok"
    assert (await queued).outcome == "ok"
    assert sent == [["ana", "bob"], ["cid"]]


async def test_batch_is_bounded() -> None:
    sizes: list[int] = []

    async def send(batch: list[Commit]) -> list[CommitResult | Exception]:
        sizes.append(len(batch))
        return [CommitResult("ok")] * len(batch)

    commits = GroupCommit(send)
    await asyncio.gather(*(commits.commit(commit_of(f"p{number}")) for number in range(MAX_BATCH + 3)))
    assert sizes == [MAX_BATCH, 3]


async def test_queued_commits_fail_with_a_failed_batch() -> None:
    sent: list[int] = []
    under_way, away = asyncio.Event(), asyncio.Event()

    async def send(batch: list[Commit]) -> list[CommitResult | Exception]:
        sent.append(len(batch))
        under_way.set()
        if len(sent) == 1:
            await away.wait()
            return [StoreUnavailable("away")] * len(batch)
        return [CommitResult("ok")] * len(batch)

    commits = GroupCommit(send)
    one = commit_of("ana")
    first = asyncio.ensure_future(commits.commit(one))
    await under_way.wait()
    others = [asyncio.ensure_future(commits.commit(one)) for _ in range(3)]
    await asyncio.sleep(0)
    away.set()
    found = await asyncio.gather(first, *others, return_exceptions=True)
    assert [type(each) for each in found] == [StoreUnavailable] * 4
    assert sent == [1]
    assert (await commits.commit(one)).outcome == "ok"

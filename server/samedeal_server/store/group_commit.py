"""Group commit: all commits of one turn of the event loop are sent to Redis together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal

from msgspec import Struct

from samedeal.race.progress import MoveCommitted
from samedeal_server.races.refusals import CommitRejection

SendBatch = Callable[[list["Commit"]], Awaitable[list["CommitResult | Exception"]]]

CommitOutcome = Literal["ok", "repeated", CommitRejection]
"""The outcome of a commit: the first text that commit_action.lua returns."""

MAX_BATCH: Final = 256
"""Maximum number of commits in a batch."""


class Commit(Struct, frozen=True):
    """An action of a player that a node has checked against the rules and wants to commit.

    ``moved`` is the event of the action. If the action is recovered after a loss of data, ``committed_at`` is the time
    of its first commit. Otherwise it is 0. ``own_limit`` is the limit in milliseconds of a race with a window, where each
    player begins at a time of their own, and otherwise 0.
    """

    room: str
    generation: int
    request: int
    first_finish_ends: bool
    moved: MoveCommitted
    committed_at: int = 0
    own_limit: int = 0


class CommitResult(Struct, frozen=True):
    """The result of a commit.

    ``outcome`` is ``ok``, or ``repeated`` if the same request was committed before. Otherwise it is the reason why the
    commit was rejected: ``stale`` (the board is at ``revision``), ``fenced`` (the newest generation is ``generation``),
    ``not_racing``, ``time_up``, ``already_finished`` or ``no_room``. If the outcome is ``ok``, ``event`` is the number
    of the new event, and ``previous`` is the number of the event before it.
    """

    outcome: CommitOutcome
    committed_at: int = 0
    revision: int = -1
    generation: int = -1
    event: int = 0
    previous: int = 0
    is_announced: bool = False


class GroupCommit:
    """A queue that collects the commits of one turn of the event loop and sends them as one batch.

    While a batch is under way, further commits wait for the next batch. A slow store therefore leads to larger batches,
    not to many batches at once.
    """

    def __init__(self, send_batch: SendBatch) -> None:
        self._send_batch = send_batch
        self._waiting: list[tuple[Commit, asyncio.Future[CommitResult]]] = []
        self._sender: asyncio.Task[None] | None = None

    def commit(self, commit: Commit) -> asyncio.Future[CommitResult]:
        """Add a commit to the next batch. Return a future for its result.

        If ``send_batch`` raises an error, or returns one for this commit, the future raises this error.
        """
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_all())
        # In Python 3.11, asyncio.get_running_loop() makes a system call.
        future: asyncio.Future[CommitResult] = self._sender.get_loop().create_future()
        self._waiting.append((commit, future))
        return future

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
                try:
                    results = await self._send_batch([commit for commit, _ in batch])
                except Exception as error:  # noqa: BLE001  # every waiting commit must receive the error, whatever it is
                    results = [error] * len(batch)
                if all(isinstance(result, Exception) for result in results):
                    # The store is down. Fail queued commits too, instead of letting each one time out in turn.
                    results += results[:1] * len(self._waiting)
                    batch, self._waiting = batch + self._waiting, []
                for (_, future), result in zip(batch, results, strict=True):
                    if future.done():
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._sender = None

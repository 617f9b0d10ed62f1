"""Group commit: the commits of one turn of the event loop travel to Redis together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

Send = Callable[[list["Commit"]], Awaitable[list["Verdict | Exception"]]]

LARGEST_BATCH: Final = 256


class Commit(Struct, frozen=True):
    """One action of one player, judged legal by a node, with what the board counts after it.

    ``at`` is 0, or for one that was acked and lost when it was first committed, which stands.
    """

    room: str
    player: str
    generation: int
    revision: int
    request: int
    action: str
    seen: bytes
    up: int
    moves: int
    undos: int
    home: bool
    over: bool
    first_home_ends: bool
    at: int = 0


class Entry(Struct, frozen=True):
    """A committed action in a player's log; ``at`` in milliseconds."""

    revision: int
    request: int
    action: str
    seen: bytes
    up: int
    moves: int
    undos: int
    at: int


class Verdict(Struct, frozen=True):
    """What became of a commit.

    ``outcome`` is ``ok``, ``again`` (it had been committed before, as ``entry``), or why not: ``stale`` (the board is at
    ``revision``), ``fenced`` (by ``generation``), ``not_racing``, ``time_up``, ``done`` or ``no_room``.
    """

    outcome: str
    at: int = 0
    revision: int = -1
    entry: Entry | None = None
    generation: int = -1


class GroupCommit:
    """Collects commits and sends those of a turn of the event loop as one batch.

    While a batch is on its way the next one collects, so that a slow store makes batches larger, not queues longer: each
    player has at most one commit under way.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: list[tuple[Commit, asyncio.Future[Verdict]]] = []
        self._sender: asyncio.Task[None] | None = None

    async def commit(self, commit: Commit) -> Verdict:
        """Send a commit with the others of this turn; raises what the store raised for it."""
        future: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting.append((commit, future))
        if self._sender is None:
            self._sender = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:LARGEST_BATCH], self._waiting[LARGEST_BATCH:]
                try:
                    verdicts = await self._send([commit for commit, _ in batch])
                except Exception as error:  # noqa: BLE001  # whatever it was, each of those who wait must be told
                    verdicts = [error] * len(batch)
                if all(isinstance(verdict, Exception) for verdict in verdicts):
                    # A store that is away: who came meanwhile would wait as long as these have, to hear the same.
                    verdicts += verdicts[:1] * len(self._waiting)
                    batch, self._waiting = batch + self._waiting, []
                for (_, future), verdict in zip(batch, verdicts, strict=True):
                    if future.done():
                        continue
                    if isinstance(verdict, Exception):
                        future.set_exception(verdict)
                    else:
                        future.set_result(verdict)
        finally:
            self._sender = None

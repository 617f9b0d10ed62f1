"""The solver in a process of its own, which its parent can kill at any time.

The worker reads a request from each line of its input, and writes an answer to each request. Both are JSON.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Self

import msgspec

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.games import offer, offered
from samedeal.moves import Move
from samedeal.solver.solve import Answer, Outcome, solve
from samedeal_client.state.losing_move import Review, actions_kept
from samedeal_client.terminal import terminal

REVIEW_BUDGET: Final = 200_000
"""Maximum number of positions that are searched for each board of a review. The search takes a few seconds."""


_Request = tuple[str, int, dict[str, str]]
"""A board, the budget of the search, and the games that are not in this release."""

_Reply = tuple[Outcome, tuple[str, ...], int]
"""The fields of an ``Answer``."""


class SolverProcess:
    """The worker process. The first call of ``solve`` starts it, and the end of the context kills it."""

    def __init__(self) -> None:
        self.process: Process | None = None
        self._turn = terminal().solvers

    async def __aenter__(self) -> Self:
        """Return this object, once there may be another worker. It is not running yet."""
        await self._turn.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill the worker, and wait until it has ended, even if this coroutine is cancelled meanwhile."""
        await self._turn.__aexit__(None, None, None)
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.kill()
        cancelled: asyncio.CancelledError | None = None
        while self.process.returncode is None:
            try:
                await self.process.wait()
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    async def solve(self, board: Board, budget: int) -> Answer:
        """Return the answer of ``samedeal.solver.solve`` from the worker. If the worker dies, the outcome is UNDECIDED."""
        if self.process is None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "samedeal_client.solver_worker", stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
        process = self.process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        try:
            process.stdin.write(msgspec.json.encode((str(board), budget, offered())) + b"\n")
            await process.stdin.drain()
            outcome, line, states = msgspec.json.decode(await process.stdout.readuntil(b"\n"), type=_Reply)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            return Answer(Outcome.UNDECIDED, (), 0)
        return Answer(outcome, tuple(map(Move.parse, line)), states)


async def review(plays: Sequence[Play], actions: Sequence[str], on_search: Callable[[int], None]) -> Review:
    """Return the complete review of a player's race. It tells after which action the deal could no longer be won.

    ``plays`` are the play before the first action and the plays after each action. Before each search, ``on_search`` is
    called with the number of the search, counted from 1.
    """
    known = Review(actions_kept(actions))
    async with SolverProcess() as solver:
        while (index := known.next_index()) is not None:
            on_search(len(known.answers) + 1)
            board = plays[known.revisions[index]].board
            known = known.with_answer(index, await solver.solve(board, REVIEW_BUDGET))
    return known


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin.buffer:
        board, budget, games = msgspec.json.decode(line, type=_Request)
        offer(games)
        answer = solve(Board.parse(board), budget)
        reply = answer.outcome, tuple(map(str, answer.line)), answer.states
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

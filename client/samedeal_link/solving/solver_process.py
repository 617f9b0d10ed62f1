"""The solver in a process of its own (``solver_program``), which its parent can kill at any time."""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Self, TypeVar

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.laws.hints import Hint, hint
from samedeal.solver.solve import Answer, Outcome, solve
from samedeal_link.machine.terminal import terminal
from samedeal_link.solving import solver_program
from samedeal_link.solving.losing_move import Review, actions_kept

REVIEW_BUDGET: Final = 200_000
"""Maximum number of positions that are searched for each board of a review. The search takes a few seconds."""

_Result = TypeVar("_Result")


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
        return await self._call(Answer(Outcome.UNDECIDED, (), 0), solve, board, budget)

    async def hint(self, board: Board) -> Hint:
        """Return the hint for a masked board. If the worker dies, it has no moves."""
        return await self._call(Hint(()), hint, board)

    async def _call(self, otherwise: _Result, function: Callable[..., _Result], *arguments: object) -> _Result:
        """Return the result of a function in the worker. If the worker dies, return ``otherwise``."""
        if self.process is None:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", solver_program.__name__), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
        process = self.process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        try:
            process.stdin.write(pickle.dumps((function, *arguments)))
            await process.stdin.drain()
            length = int.from_bytes(await process.stdout.readexactly(solver_program.LENGTH_BYTES), "big")
            result: _Result = pickle.loads(await process.stdout.readexactly(length))  # noqa: S301 (our own)
        except (OSError, asyncio.IncompleteReadError):
            return otherwise
        return result


class Hints:
    """Hints to the player of one race, each from a process that ends with it. A hint is kept while it is followed."""

    def __init__(self) -> None:
        self._known: dict[Board, Hint] = {}

    async def suggest(self, board: Board) -> Hint:
        """Return the hint for a masked board."""
        if board not in self._known:
            async with SolverProcess() as solver:
                found = await solver.hint(board)
            self._known = {board: found, **found.along(board)}
        return self._known[board]


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

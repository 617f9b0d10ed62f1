"""The solver in a process of its own (``solver_program``), which its parent can kill at any time."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Self, TypeVar

import msgspec

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.games import offered
from samedeal.moves import Move
from samedeal.solver.solve import Answer, Outcome
from samedeal_link.machine.terminal import terminal
from samedeal_link.solving import solver_program
from samedeal_link.solving.hints import Hint
from samedeal_link.solving.losing_move import Review, actions_kept
from samedeal_link.solving.solver_program import HintReply, HintRequest, SolveReply, SolveRequest

REVIEW_BUDGET: Final = 200_000
"""Maximum number of positions that are searched for each board of a review. The search takes a few seconds."""
_LONGEST_REPLY: Final = 16 * 1024 * 1024
"""Maximum size of a reply, in bytes. A finder that has given many hints takes 100 kB."""

_Reply = TypeVar("_Reply")


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
        reply = await self._ask(SolveRequest(str(board), budget, offered()), SolveReply)
        if reply is None:
            return Answer(Outcome.UNDECIDED, (), 0)
        return Answer(reply.outcome, tuple(map(Move.parse, reply.line)), reply.states)

    async def hint(self, board: Board, finder: bytes) -> tuple[Hint, bytes]:
        """Return the hint for a masked board, and the finder for the next hint. If the worker dies, there is no hint."""
        reply = await self._ask(HintRequest(str(board), finder, offered()), HintReply)
        if reply is None:
            return Hint(None), finder
        move = None if reply.move is None else Move.parse(reply.move)
        return Hint(move, reply.is_lost, reply.reason), reply.finder

    async def _ask(self, request: SolveRequest | HintRequest, reply: type[_Reply]) -> _Reply | None:
        if self.process is None:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", solver_program.__name__),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=_LONGEST_REPLY,
            )
        process = self.process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        try:
            process.stdin.write(msgspec.json.encode(request) + b"\n")
            await process.stdin.drain()
            return msgspec.json.decode(await process.stdout.readuntil(b"\n"), type=reply)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            return None


class Hints:
    """Hints to the player of one race, each from a process that ends with it."""

    def __init__(self) -> None:
        self._finder = b""
        """The ``HintFinder`` between two hints, as the process has left it."""

    async def suggest(self, board: Board) -> Hint:
        """Return the hint for a masked board."""
        async with SolverProcess() as solver:
            hint, self._finder = await solver.hint(board, self._finder)
        return hint


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

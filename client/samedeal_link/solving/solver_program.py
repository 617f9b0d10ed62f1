"""The program of a solver's process. It searches for whoever has started it.

It reads a request from each line of its input, and writes an answer to each request. Both are JSON.
"""

from __future__ import annotations

import os
import pickle
import sys
from random import Random
from typing import Final

import msgspec

from samedeal.board import Board
from samedeal.games import offer
from samedeal.solver.solve import Outcome, solve
from samedeal_link.solving.hints import HintFinder

_NICENESS: Final = 5
"""What is drawn and typed comes first on a busy machine."""


class SolveRequest(msgspec.Struct, tag="solve"):
    """A board, the budget of the search, and the games that are not in this release."""

    board: str
    budget: int
    games: dict[str, str]


class HintRequest(msgspec.Struct, tag="hint"):
    """A masked board, and the ``HintFinder`` of the player, which is empty before the first hint."""

    board: str
    finder: bytes
    games: dict[str, str]


class SolveReply(msgspec.Struct):
    """The fields of an ``Answer``."""

    outcome: Outcome
    line: tuple[str, ...]
    states: int


class HintReply(msgspec.Struct):
    """The fields of a ``Hint``, and the ``HintFinder`` that has given it."""

    move: str | None
    is_lost: bool
    reason: str
    finder: bytes


def answer(request: SolveRequest | HintRequest) -> SolveReply | HintReply:
    """Search, and return the result."""
    offer(request.games)
    board = Board.parse(request.board)
    if isinstance(request, SolveRequest):
        found = solve(board, request.budget)
        return SolveReply(found.outcome, tuple(map(str, found.line)), found.states)
    finder = pickle.loads(request.finder) if request.finder else HintFinder(Random())  # noqa: S301, S311 (our own; no secret)
    hint = finder.suggest(board)
    move = None if hint.move is None else str(hint.move)
    return HintReply(move, hint.is_lost, hint.reason, pickle.dumps(finder))


def main() -> None:
    """Answer requests until the input ends."""
    os.nice(_NICENESS)
    for line in sys.stdin.buffer:
        reply = answer(msgspec.json.decode(line, type=SolveRequest | HintRequest))
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

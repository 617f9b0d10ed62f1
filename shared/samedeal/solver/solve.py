"""Whether an open board can be won, and how.

The answer depends only on the board, the budget and ``SOLVER``. It is the same on every machine and with every Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.solver.estimate import Estimate
from samedeal.solver.line import Line, moves_along, wins
from samedeal.solver.search import Search
from samedeal.solver.states import StateSpace

SOLVER: Final = 1
"""Version of the solver. Raise it whenever a board gets another answer within some budget, even if both are right."""


class Outcome(StrEnum):
    """What the solver can say about a board."""

    WON = "won"
    UNWINNABLE = "unwinnable"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Answer:
    """The solver's answer about a board.

    ``line`` holds the moves that win, if the outcome is ``WON``. ``states`` is the number of different states that the
    search reached. It measures how hard the board is for this solver.
    """

    outcome: Outcome
    line: Line
    states: int


def solve(board: Board, budget: int) -> Answer:
    """Search for a winning line, until the search has reached more than ``budget`` different states.

    The budget bounds time and memory. The engine has replayed the line of the answer. ``UNWINNABLE`` means that every
    state was searched. Raises ValueError if a card of the board is hidden or the budget is not positive.
    """
    if budget < 1:
        raise ValueError(f"a budget is at least one state, not {budget}")
    if any(HIDDEN in pile for pile in board.piles):
        raise ValueError("a board with hidden cards can't be solved")
    if board.won:
        return Answer(Outcome.WON, (), 1)
    space = StateSpace(board.game, board.stock)
    found = Search(space, Estimate(board.game)).run(space.state(board), budget)
    if found.path:
        line = moves_along(space, board, found.path)
        if not wins(board, line):
            raise AssertionError("the engine refuses the solver's line")
        return Answer(Outcome.WON, line, found.states)
    return Answer(Outcome.UNWINNABLE if found.exhausted else Outcome.UNDECIDED, (), found.states)

"""Whether an open board can be won, and how.

Several searches with different estimates take turns, because a deal that is hard for one is often easy for another. Each
goes on until it has reached ``FIRST_LIMIT`` states, then until it has reached twice as many, and so on.

The answer depends only on the board, the budget and ``SOLVER``. It is the same on every machine and with every Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from typing import Final

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.solver.estimate import Estimate, weights_of
from samedeal.solver.line import Line, moves_along, wins
from samedeal.solver.search import Search
from samedeal.solver.states import State, StateSpace

SOLVER: Final = 1
"""Version of the solver. Raise it whenever a board gets another answer within some budget, even if both are right."""

FIRST_LIMIT: Final = 1000
"""The states that each search reaches before the next one takes its turn."""


class Outcome(StrEnum):
    """The answers of the solver. ``UNDECIDED`` means that the budget was spent."""

    WON = "won"
    UNWINNABLE = "unwinnable"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Answer:
    """The solver's answer about a board.

    ``line`` holds the moves that win, if the outcome is ``WON``. ``states`` is the number of states that all
    searches reached. It measures how hard the board is for this solver.
    """

    outcome: Outcome
    line: Line
    states: int


def solve(board: Board, budget: int) -> Answer:
    """Search for a winning line, and give up if that takes more than ``budget`` states.

    The budget bounds time and memory. A larger budget never changes an answer other than ``UNDECIDED``. The engine has
    replayed the line of the answer. ``UNWINNABLE`` means that all states were searched. Raises ValueError if a card of the
    board is hidden or the budget is not positive.
    """
    if budget < 1:
        raise ValueError(f"a budget is at least one state, not {budget}")
    if any(HIDDEN in pile for pile in board.piles):
        raise ValueError("a board with hidden cards can't be solved")
    if board.won:
        return Answer(Outcome.WON, (), 1)
    space = StateSpace(board.game, board.stock)
    start = space.state(board)
    searches = [Search(space, Estimate(board.game, weights), start) for weights in weights_of(board.game)]
    limits = (limit for limit in _doubled(FIRST_LIMIT) for _ in searches)
    for search, limit in zip(cycle(searches), limits, strict=False):
        spent = sum(other.states for other in searches if other is not search)
        found = search.run(min(limit, budget - spent))
        states = spent + search.states
        if states > budget:
            return Answer(Outcome.UNDECIDED, (), states)
        if found and found.path:
            return Answer(Outcome.WON, _played(space, board, found.path), states)
        if found:
            return Answer(Outcome.UNWINNABLE, (), states)
    raise AssertionError("the limits never end")


def _doubled(limit: int) -> Iterator[int]:
    while True:
        yield limit
        limit *= 2


def _played(space: StateSpace, board: Board, path: tuple[State, ...]) -> Line:
    """Return the moves along a path, after the engine has replayed them."""
    line = moves_along(space, board, path)
    if not wins(board, line):
        raise AssertionError("the engine refuses the solver's line")
    return line

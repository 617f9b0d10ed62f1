"""The solver: it finds out whether a board without hidden cards can be won, and how.

Several searches with different estimates take turns, because a deal that is hard for one search is often easy for
another. Each search runs until it has reached ``FIRST_LIMIT`` states, then until it has reached twice as many, and so
on.

The answer depends only on the board, the budget and ``SOLVER``. It is the same on every machine and with every Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from typing import Final

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.errors import BadArgument
from samedeal.solver.estimate import Estimate, weights_of
from samedeal.solver.line import Line, moves_along, wins
from samedeal.solver.search import Search
from samedeal.solver.states import State, StateSpace

SOLVER: Final = 2
"""Version of the solver.

Raise it whenever the answer for a board and a budget changes, even if both answers are right.
"""

FIRST_LIMIT: Final = 1000
"""Number of states that each search reaches in its first turn."""

_BETWEEN_LOOKS: Final = 200
"""Number of states that a search reaches before ``solve`` asks again whether the time is over."""


class Outcome(StrEnum):
    """The outcomes of a search. ``UNDECIDED`` means that the budget was used up, or that the time was over."""

    WON = "won"
    UNWINNABLE = "unwinnable"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Answer:
    """The solver's answer for a board.

    ``line`` holds the winning moves if the outcome is ``WON``. ``states`` is the number of states that all searches
    together have reached. It measures how hard the board is for this solver.
    """

    outcome: Outcome
    line: Line
    states: int


def solve(board: Board, budget: int, time_is_over: Callable[[], bool] = lambda: False) -> Answer:
    """Search for moves that win a board. Give up after ``budget`` states, or once ``time_is_over`` returns true.

    The budget limits time and memory. A larger budget changes no answer except ``UNDECIDED``. The winning
    moves of the answer were checked with the rules. ``UNWINNABLE`` means that all states were searched. Raise
    BadArgument if a card of the board is hidden or the budget is not positive.
    """
    if budget < 1:
        raise BadArgument(f"The budget of a search is at least one state, not {budget}.")
    if any(HIDDEN in pile for pile in board.piles):
        raise BadArgument("A board with hidden cards can't be solved.")
    if board.won:
        return Answer(Outcome.WON, (), 1)
    space, searches = _begun(board)
    outcome, path, states = _run(searches, budget, time_is_over)
    return Answer(outcome, _checked_moves(space, board, path) if outcome is Outcome.WON else (), states)


def nearest(board: Board, budget: int) -> Answer:
    """Search as ``solve`` does. If no win is found, the line leads to the state that looks best to the first search.

    It has the lowest estimate of all reached states, and may be that of the board itself.
    """
    space, searches = _begun(board)
    outcome, path, states = _run(searches, budget, lambda: False)
    path = path if outcome is Outcome.WON else searches[0].nearest()
    return Answer(outcome, moves_along(space, board, path, by_text=True), states)


def _begun(board: Board) -> tuple[StateSpace, list[Search]]:
    """Return the searches from a board before their first turns."""
    space = StateSpace(board.game, board.stock)
    start = space.state(board)
    return space, [Search(space, Estimate(board.game, weights), start) for weights in weights_of(board.game)]


def _run(
    searches: list[Search], budget: int, time_is_over: Callable[[], bool]
) -> tuple[Outcome, tuple[State, ...], int]:
    """Let searches take turns. Return the outcome, the states that lead to a win, and the number of reached states."""
    limits = (limit for limit in _doubled(FIRST_LIMIT) for _ in searches)
    for search, limit in zip(cycle(searches), limits, strict=False):
        spent = sum(other.states for other in searches if other is not search)
        limit = min(limit, budget - spent)
        path, is_over = None, False
        while path is None and search.states <= limit and not (is_over := time_is_over()):
            path = search.run(min(limit, search.states + _BETWEEN_LOOKS))
        states = spent + search.states
        if states > budget or is_over:
            return Outcome.UNDECIDED, (), states
        if path is not None:
            return Outcome.WON if path else Outcome.UNWINNABLE, path, states
    raise AssertionError("the limits never end")


def _doubled(limit: int) -> Iterator[int]:
    while True:
        yield limit
        limit *= 2


def _checked_moves(space: StateSpace, board: Board, path: tuple[State, ...]) -> Line:
    """Return the moves that lead through the states of a search result, after checking with the rules that they win."""
    line = moves_along(space, board, path)
    if not wins(board, line):
        raise AssertionError("the rules forbid the solver's line")
    return line

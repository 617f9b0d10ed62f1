"""Hints: the next move of the solver, or the move that the careful bot would make for the player."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.moves import Move
from samedeal.solver.solve import Outcome, solve
from samedeal_client.bots.strategy import CAREFUL_NODES, BotMemory, choose_move

HINT_BUDGET: Final = 20_000
"""Maximum number of positions that are searched for a winning line: half a second."""


class Hint(NamedTuple):
    """A suggested move, or None if no move helps. ``is_lost`` is true if the board is proven to be lost.

    A move on a lost board brings more cards to the foundations, and these count if nobody wins.
    """

    move: Move | None
    is_lost: bool = False


class HintFinder:
    """Suggests moves to the player of one race. The same board always gets the same suggestion.

    If the player has seen all cards, the suggestion is the next move of a winning line. If there is none, if it is not found
    within ``budget``, or if cards are hidden, it is the move of the careful bot, which searches at most ``node_budget``
    boards. After several of the bot's suggestions in a row that make no progress, the answer is that no move helps, until
    the player makes a move that was not suggested.
    """

    def __init__(self, rng: Random, node_budget: int = CAREFUL_NODES, budget: int = HINT_BUDGET) -> None:
        self._memory = BotMemory(rng, node_budget)
        self._budget = budget
        self._last: tuple[Board, Hint] | None = None
        self._line: dict[Board, Move] = {}

    def suggest(self, board: Board) -> Hint:
        """Return the hint for a masked board."""
        if self._last is None or self._last[0] != board:
            is_lost = board not in self._line and self._is_lost(board)
            move = self._line.get(board)
            if move is None and not board.won:
                if self._last is None or not _was_followed(*self._last, board):
                    self._memory.detours = 0
                move = choose_move("careful", board, self._memory)
            self._last = board, Hint(move, is_lost)
        return self._last[1]

    def _is_lost(self, board: Board) -> bool:
        """Look for a winning line and keep it. Return whether it is proven that there is none."""
        if any(HIDDEN in pile for pile in board.piles):
            return False
        answer = solve(board, self._budget)
        self._line = {}
        after = board
        for move in answer.line:
            self._line[after] = move
            after = after.play(move).board
        return answer.outcome is Outcome.UNWINNABLE


def _was_followed(before: Board, hint: Hint, board: Board) -> bool:
    """Whether the suggested move leads from the board of the hint to this board."""
    if hint.move is None or before.turns_up(hint.move):
        return False
    return before.play(hint.move).board == board

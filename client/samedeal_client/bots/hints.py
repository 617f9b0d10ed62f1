"""Hints: the move that the careful bot would make for the player."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from samedeal.board import Board
from samedeal.moves import Move
from samedeal_client.bots.strategy import CAREFUL_NODES, BotMemory, choose_move


class _Hint(NamedTuple):
    """A board and the move that was suggested for it, or None if no move helps."""

    board: Board
    move: Move | None


class HintFinder:
    """Suggests moves to the player of one race. The same board always gets the same suggestion.

    After several suggestions in a row that make no progress, the answer is that no move helps, until the player makes a move
    that was not suggested. ``node_budget`` is the maximum number of boards searched for a suggestion.
    """

    def __init__(self, rng: Random, node_budget: int = CAREFUL_NODES) -> None:
        self._memory = BotMemory(rng, node_budget)
        self._last: _Hint | None = None

    def suggest(self, board: Board) -> Move | None:
        """Return the move to suggest on a masked board, or None if no move helps."""
        if self._last is None or self._last.board != board:
            if self._last is None or not _was_followed(self._last, board):
                self._memory.detours = 0
            self._last = _Hint(board, choose_move("careful", board, self._memory))
        return self._last.move


def _was_followed(hint: _Hint, board: Board) -> bool:
    """Whether the suggested move leads from the board of the hint to this board."""
    if hint.move is None or hint.board.turns_up(hint.move):
        return False
    return hint.board.play(hint.move).board == board

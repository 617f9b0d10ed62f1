"""Hints: the next move of a winning line, a safe move, or the move that a careful bot would make."""

from __future__ import annotations

import pickle
from random import Random
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.moves import DEAL, FOUNDATION, Move
from samedeal.solver.solve import Outcome, solve
from samedeal.solver.states import StateSpace
from samedeal_link.solving.strategy import CAREFUL_NODES, BotMemory, choose_move, deals_first

HINT_BUDGET: Final = 20_000
"""Maximum number of positions that are searched for a winning line. The search takes half a second."""

DEAL_FIRST: Final = "It is best to see all the cards before you move any."
"""The reason for dealing first. Of 200 deals of Ace of Hearts, dealing first won 193, and making progress first won 72."""


GUESS: Final = "A guess: some cards are hidden."
"""The reason for a move that may lose the race, because the hint does not know all cards."""


class Hint(NamedTuple):
    """A hint.

    ``move`` is the suggested move, or None if no move helps. ``is_lost`` is true if the board is proven to be lost.
    ``reason`` is a sentence about the move, or empty.

    On a lost board a move may still be suggested, because foundation cards count if nobody wins.
    """

    move: Move | None
    is_lost: bool = False
    reason: str = ""


class HintFinder:
    """The source of suggested moves for the player of one race.

    If the player has seen all cards, the solver searches for a winning line, and the line's next move is suggested. If
    cards are hidden, or if the solver finds no line within ``budget``, a safe move to a foundation is suggested. If
    there is none, the careful bot's move is suggested. The bot searches at most ``node_budget`` boards. If several of
    the bot's suggestions in a row make no progress, no move is suggested until the player makes a different move. A
    second request for the same board gives the same suggestion.
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
                move = safe_move(board) or choose_move("careful", board, self._memory)
            self._last = board, Hint(move, is_lost, _reason(board, move))
        return self._last[1]

    def _is_lost(self, board: Board) -> bool:
        """Search for a winning line and keep the line. Return whether the board is proven to be lost."""
        if _hides_cards(board):
            return False
        answer = solve(board, self._budget)
        self._line = {}
        after = board
        for move in answer.line:
            self._line[after] = move
            after = after.play(move).board
        return answer.outcome is Outcome.UNWINNABLE


def next_hint(board: Board, finder: bytes) -> tuple[Hint, bytes]:
    """Return the hint for a masked board, and the finder for the next one.

    ``finder`` is the pickled ``HintFinder`` of the player, which is empty before the first hint.
    """
    known: HintFinder = pickle.loads(finder) if finder else HintFinder(Random())  # noqa: S301, S311 (our own; no secret)
    hint = known.suggest(board)
    return hint, pickle.dumps(known)


def _hides_cards(board: Board) -> bool:
    return any(HIDDEN in pile for pile in board.piles)


def _reason(board: Board, move: Move | None) -> str:
    if move == DEAL and deals_first(board):
        return DEAL_FIRST
    return GUESS if move is not None and _hides_cards(board) and move != safe_move(board) else ""


def safe_move(board: Board) -> Move | None:
    """Return a safe move to a foundation: if the board can be won, it can still be won after the move.

    Return None if ``StateSpace.safe_cards`` finds no such move.
    """
    game = board.game
    space = StateSpace(game, b"")
    if not space.has_safe_cards:
        return None
    safe, safe_from_fan = space.safe_cards(
        bytes(board.piles[at][-1] if board.piles[at] else 0 for at in game.foundations)
    )
    for move in board.legal_moves():
        if move.target != FOUNDATION:
            break  # moves to foundations come first
        at = game.index[move.source]
        safe_here = safe if at in game.columns else safe_from_fan if at in game.fans else b""
        if board.piles[at][-1] in safe_here:
            return move
    return None


def _was_followed(before: Board, hint: Hint, board: Board) -> bool:
    """Return whether the suggested move leads from the board ``before`` to ``board``."""
    if hint.move is None or before.turns_up(hint.move):
        return False
    return before.play(hint.move).board == board

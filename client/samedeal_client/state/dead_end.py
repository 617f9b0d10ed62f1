"""Proof that nothing reachable from a board helps, as far as its player can see."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal.board import Board

MAX_MOVES: Final = 300
"""Maximum number of moves tried by a search that runs after each of the player's moves."""

_CACHE_SIZE: Final = 256

Key = tuple[tuple[bytes, ...], tuple[bytes, ...]]


def key_of(board: Board) -> Key:
    """Return a key of a board. Boards that differ only in the order of their columns have the same key."""
    columns = board.game.columns
    return tuple(sorted(board.piles[columns.start : columns.stop])), board.piles[columns.stop :]


@lru_cache(maxsize=_CACHE_SIZE)
def is_dead_end(board: Board, max_moves: int = MAX_MOVES) -> bool:
    """Whether it is proven that no sequence of moves turns up an unseen card or adds a card to the foundations.

    All moves count, including draws and moves off a foundation. A board that is won is no dead end. If the proof needs more
    than ``max_moves`` moves, the result is False.
    """
    if board.won or (board.game.stock.to_columns and board.stock):
        return False
    foundation_cards = board.foundation_cards
    reachable = [board]
    known = {key_of(board)}
    tried = 0
    for reached in reachable:  # grows during the loop
        moves = reached.legal_moves()
        tried += len(moves)
        if tried > max_moves:
            return False
        for move in moves:
            if reached.turns_up(move):
                return False
            after = reached.play(move).board
            if after.foundation_cards > foundation_cards:
                return False
            key = key_of(after)
            if key not in known:
                known.add(key)
                reachable.append(after)
    return True

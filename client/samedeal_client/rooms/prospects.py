"""Whether anything that helps can still be reached from a board, as far as its player can see."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal.board import Board
from samedeal.games import Stock

MOST_TRIED: Final = 300
"""Moves that are tried after each of a player's own, to find out whether to tell that nothing helps."""

_REMEMBERED: Final = 256

Key = tuple[tuple[bytes, ...], tuple[bytes, ...]]


def key_of(board: Board) -> Key:
    """What tells boards apart for a player, to whom it doesn't matter which column lies where."""
    columns = board.game.columns
    return tuple(sorted(board.piles[columns.start : columns.stop])), board.piles[columns.stop :]


@lru_cache(maxsize=_REMEMBERED)
def hopeless(board: Board, most: int = MOST_TRIED) -> bool:
    """Whether it is proven that nothing helps: whatever is done, no card never seen turns up and none more goes up.

    Every move counts, drawing and taking cards back from foundations too. False for a board that is won, and where more
    than ``most`` moves would have to be tried.
    """
    if board.won or (board.game.stock is Stock.DEAL_ROW and board.piles[board.game.stock_at]):
        return False
    up = board.cards_up
    waiting = [board]
    known = {key_of(board)}
    tried = 0
    for here in waiting:  # which grows
        moves = here.legal_moves()
        tried += len(moves)
        if tried > most:
            return False
        for move in moves:
            if here.turns_up(move):
                return False
            after = here.play(move).board
            if after.cards_up > up:
                return False
            key = key_of(after)
            if key not in known:
                known.add(key)
                waiting.append(after)
    return True

"""Dragged cards: the pile under the pointer, drawn as if the cards had been dropped on it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from samedeal.board import Board
from samedeal.moves import FOUNDATION, Move
from samedeal_client.board.draw_board import region_of
from samedeal_client.board.foundation_order import foundation_for
from samedeal_client.board.marks import Marks


class DragPreview(NamedTuple):
    """The region that the cards are dragged over, with the board and the marks as they would be after the drop."""

    region: str
    board: Board
    marks: Marks


def drag_preview(board: Board, move: Move) -> DragPreview:
    """Return the preview of a legal move, in which no card is turned up yet.

    Raise ValueError if the move is not legal.
    """
    index = board.game.index
    cards = board.piles[index[move.source]][-move.size :]
    target = foundation_for(board, cards[0]) if move.target == FOUNDATION else move.target
    if target is None:
        raise ValueError(f"{move} is not legal")
    piles = list(board.piles)
    piles[index[move.source]] = piles[index[move.source]][: -move.size]
    piles[index[target]] += cards
    return DragPreview(
        region_of(board.game, target), Board(board.game, tuple(piles)), Marks(source=(target, move.size))
    )

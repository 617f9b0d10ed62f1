"""Cards in mid-air: how the pile that they are held over would look with them, before they are let go. Pure."""

from __future__ import annotations

from typing import NamedTuple

from samedeal.board import Board
from samedeal.moves import FOUNDATION, Move
from samedeal_client.board.marks import Marks, foundation_for
from samedeal_client.board.render import part_of


class Carried(NamedTuple):
    """The part of a picture that cards are held over, and the board and marks to draw it from."""

    part: str
    board: Board
    marks: Marks


def carried(board: Board, move: Move) -> Carried:
    """The cards of a legal move over the pile that they would go to; what lies under them is not turned up yet."""
    index = board.game.index
    cards = board.piles[index[move.source]][-move.size :]
    target = foundation_for(board, cards[0]) if move.target == FOUNDATION else move.target
    if target is None:
        raise ValueError(f"{move} goes nowhere")
    piles = list(board.piles)
    piles[index[move.source]] = piles[index[move.source]][: -move.size]
    piles[index[target]] += cards
    return Carried(part_of(board.game, target), Board(board.game, tuple(piles)), Marks(source=(target, move.size)))

"""Boards as a server sends them, with hidden cards masked."""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN
from samedeal.errors import MalformedFrame
from samedeal.game import Game

_CARDS: Final = frozenset(
    (HIDDEN, *(down | suit << 4 | rank for down in (0, DOWN) for suit in range(4) for rank in range(1, 14)))
)
"""The bytes that stand for a card."""


def masked_board(game: Game, piles: tuple[bytes, ...]) -> Board:
    """Return the board with these ``piles``. Raise MalformedFrame if they can't be a board of the game."""
    cards = b"".join(piles)
    if len(piles) != len(game.keys) or len(cards) > game.cards or not _CARDS.issuperset(cards):
        raise MalformedFrame(f"{game.title} has no such board.")
    return Board(game, piles)

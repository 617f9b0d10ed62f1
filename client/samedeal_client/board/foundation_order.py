"""The order in which the foundations are shown."""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.cards import Card

_SHOWN_SUITS: Final = (3, 2, 1, 0)


def foundations_shown(board: Board) -> list[tuple[int, int | None]]:
    """Return the indexes of the foundations in the order of the screen, each with its suit.

    If there is one foundation for each suit, the order is spades, hearts, diamonds, clubs. Otherwise each suit is None,
    and the order is the order of the piles in the game.
    """
    game = board.game
    group = game.piles[game.foundations.start]
    if not group.follows_suit or len(game.foundations) != len(_SHOWN_SUITS) or game.file.suits < len(_SHOWN_SUITS):
        return [(index, None) for index in game.foundations]
    held = {Card(board.piles[index][0]).suit: index for index in game.foundations if board.piles[index]}
    free = iter([index for index in game.foundations if not board.piles[index]])
    return [(held[suit] if suit in held else next(free), suit) for suit in _SHOWN_SUITS]


def foundation_for(board: Board, card: int) -> str | None:
    """Return the foundation that the screen now shows at the place for ``card``, or None if no foundation takes it.

    An ace goes to the first empty foundation (RULES.md, ruling R19), which may not be the returned one. After the move,
    the screen shows the ace's foundation at this place.
    """
    game = board.game
    for at, suit in foundations_shown(board):
        pile, group = board.piles[at], game.piles[at]
        if suit in (None, Card(card).suit) and card in (group.on[pile[-1]] if pile else group.on_empty):
            return game.keys[at]
    return None

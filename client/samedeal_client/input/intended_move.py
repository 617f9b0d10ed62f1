"""The move that a player most likely means, whether it is entered with keys, mouse or typed lines. Pure.

The player names a source pile and a target pile. This module finds the move that fits, or the reason why none fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.errors import IllegalMove, UnseenCard
from samedeal.game import Game
from samedeal.moves import FOUNDATION, Move


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input that makes no move. ``sentence`` tells the player what is wrong, then what to do."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Legal moves of different cards that the input could mean equally well. The player has to choose one of the moves."""

    moves: tuple[Move, ...]


Intent: TypeAlias = Move | Ambiguous | Rejected
"""The outcome of naming a source and a target. A ``Move`` is legal on the board it was found for."""


def legal_or_rejected(board: Board, move: Move) -> Move | Rejected:
    """Return ``move`` if it is legal. Otherwise return the rejection that names the broken rule."""
    try:
        board.play(move)
    except UnseenCard:
        return move
    except IllegalMove as error:
        return Rejected(str(error))
    return move


def stock_move(board: Board) -> Move | Rejected:
    """Return the game's draw or deal, or the rejection that says why there is none now."""
    action = board.game.stock.action
    if action is None:
        return Rejected(f"{board.game.title} has no stock. All its cards are in play.")
    return legal_or_rejected(board, action)


def move_between(board: Board, source: str, target: str, size: int | None = None) -> Intent:
    """Return the move from one pile to another, a choice of such moves, or the rejection that says why there is none.

    The move has ``size`` cards or, if ``size`` is None, as many cards as fit. The pile ``0`` stands for any foundation.
    A target that is the source itself also stands for a foundation.
    """
    game = board.game
    if rejected := source_rejection(board, source):
        return rejected
    if game.index.get(target, -1) == game.stock_at >= 0:
        return Rejected("No card goes to the stock. Choose another pile.")
    to_foundation = target in (FOUNDATION, source) or is_foundation(game, target)
    if to_foundation and (source == FOUNDATION or is_foundation(game, source)):
        return Rejected("The card is on a foundation already. Choose a column for it.")
    if source == FOUNDATION:
        return _from_any_foundation(board, target)
    if to_foundation:
        target = FOUNDATION
    if size is not None or (to_foundation and game.piles[game.foundations.start].takes == 1):
        return legal_or_rejected(board, Move(source, target, size or 1))
    return _longest(board, source, target)


def best_move(board: Board, source: str, size: int | None = None) -> Move | Rejected:
    """Return the most useful move of a pile's cards, or the rejection that says why there is none.

    A foundation comes before a column with cards, then a fan, then an empty column, then a cell. Among equally
    useful moves, the move of the most cards is best. If ``size`` is given, only moves of ``size`` cards are considered.
    """
    if rejected := source_rejection(board, source):
        return rejected
    if source == FOUNDATION:
        return Rejected("Which column takes the card? Type both piles, as in 0 5.")
    candidates = [
        move
        for move in board.legal_moves()
        if move.source == source and size in (None, move.size) and not board.is_null(move)
    ]
    if not candidates:
        pile = board.piles[board.game.index[source]]
        cards = board.game.pile_name(source) if size is None else Card(pile[-size]).symbol
        return Rejected(f"No useful move for {cards}. Choose another pile.")
    return max(candidates, key=lambda move: (_usefulness(board, move), move.size))


def source_rejection(board: Board, source: str) -> Rejected | None:
    """Return the reason why no card can be taken from ``source``.

    Return None if a card can be taken, or if ``source`` is no pile of the game.
    """
    game = board.game
    at = game.foundations.start if source == FOUNDATION else game.index.get(source, -1)
    if at < 0:
        return None
    if not game.piles[at].gives:
        sentence = f"In {game.title}, cards never leave a {game.piles[at].kind}. Start with another pile."
        return Rejected(sentence)
    if source == FOUNDATION:
        is_empty, subject = not board.foundation_cards, "The foundations are"
    else:
        name = "the waste" if at == game.waste_at else game.pile_name(source)
        is_empty, subject = not board.piles[at], f"{name.capitalize()} is"
    return Rejected(f"{subject} empty. Start with another pile.") if is_empty else None


def is_foundation(game: Game, pile: str) -> bool:
    """Return whether ``pile`` is the name of a foundation."""
    return game.index.get(pile, -1) in game.foundations


def _longest(board: Board, source: str, target: str) -> Move | Rejected:
    """Return the move of as many cards as fit on the target, or the rejection that says why none fits."""
    fitting = [move for move in board.legal_moves() if move.source == source and move.target == target]
    if fitting:
        return max(fitting, key=lambda move: move.size)
    return legal_or_rejected(board, Move(source, target))


def _from_any_foundation(board: Board, target: str) -> Intent:
    """Return the move of a foundation's top card to ``target``. If different cards fit, return a choice."""
    game = board.game
    filled = [game.keys[at] for at in game.foundations if board.piles[at]]
    moves: dict[int, Move] = {}
    for key in filled:
        if board.is_legal(Move(key, target)):
            moves.setdefault(board.piles[game.index[key]][-1], Move(key, target))
    if len(moves) > 1:
        return Ambiguous(tuple(moves.values()))
    return next(iter(moves.values()), None) or legal_or_rejected(board, Move(filled[0], target))


def _usefulness(board: Board, move: Move) -> int:
    if move.target == FOUNDATION:
        return 3
    at = board.game.index[move.target]
    if at in board.game.fans:
        return 1
    if at in board.game.cells:
        return -1
    return 2 if board.piles[at] else 0

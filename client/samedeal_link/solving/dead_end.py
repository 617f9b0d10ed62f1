"""Proofs that a player is stuck, with or without the undos that the player could make."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo

MAX_MOVES: Final = 300
"""Maximum number of moves tried by a search that runs after each of the player's moves."""

MAX_MOVES_WITH_UNDO: Final = 20_000
"""Maximum number of moves tried by a search that also takes undos into account. Such a search takes up to 0.2 s."""

_CACHE_SIZE: Final = 256

Key = tuple[tuple[bytes, ...], tuple[bytes, ...]]


def key_of(board: Board) -> Key:
    """Return a key of a board. Boards that differ only in the order of their columns or cells have the same key."""
    columns, cells = board.game.columns, board.game.cells
    others = board.piles[columns.stop :]
    if cells:
        in_cells = sorted(board.piles[cells.start : cells.stop])
        others = (*in_cells, *board.piles[columns.stop : cells.start], *board.piles[cells.stop :])
    return tuple(sorted(board.piles[columns.start : columns.stop])), others


def is_dead_end(board: Board, max_moves: int = MAX_MOVES) -> bool:
    """Return whether provably no sequence of moves turns up an unseen card or adds a card to the foundations.

    All moves are tried, including draws and moves off a foundation. If more than ``max_moves`` moves would have to be
    tried, the result is False. A board that is won is no dead end.
    """
    return not board.won and _is_closed(board, board.foundation_cards, max_moves)


def is_stuck_for_good(play: Play, *, from_deal: bool) -> bool:
    """Return whether the player is proven to be stuck, even if the player undoes moves.

    A stuck player can neither turn up an unseen card nor have more cards on the foundations than now. ``from_deal``
    says that ``play`` has every move since the deal. If moves are missing, and the player might undo them, the result
    is False. The player can't undo them if ``play`` has a move that can't be undone, or if the room forbids undo.
    """
    first = play
    while first.why_no_undo is None:
        first = first.act(UNDO)
    if play.board.won or (first.past is None and not from_deal and first.undo_rule is not Undo.OFF):
        return False
    return _is_closed(first.board, play.board.foundation_cards, MAX_MOVES_WITH_UNDO)


@lru_cache(maxsize=_CACHE_SIZE)
def _is_closed(board: Board, foundation_cards: int, max_moves: int) -> bool:
    """Return whether no sequence of moves turns up a card or leads to more than ``foundation_cards`` foundation cards.

    If more than ``max_moves`` moves would have to be tried, the result is False.
    """
    if board.foundation_cards > foundation_cards or (board.game.stock.to_columns and board.stock):
        return False
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

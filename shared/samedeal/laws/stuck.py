"""The law of being stuck: the proof that a player can't improve the result, with or without undos."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.moves import DEAL, Move

MAX_MOVES: Final = 4000
"""Maximum number of moves that a proof tries, in every client. It takes 30 ms."""

FEW_MOVES: Final = 300
"""Maximum number of moves that are tried for a proof while somebody waits for it."""

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

    A board that is won is no dead end. If more than ``max_moves`` moves would have to be tried, the result is False.
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
    return _is_closed(first.board, play.board.foundation_cards, MAX_MOVES)


@lru_cache(maxsize=_CACHE_SIZE)
def _is_closed(board: Board, most: int, max_moves: int) -> bool:
    return way_on(board, most, max_moves) == ()


def way_on(board: Board, most: int, max_moves: int = MAX_MOVES) -> tuple[Move, ...] | None:
    """Return the fewest moves that turn up an unseen card, or lead to more than ``most`` cards on the foundations.

    All moves are tried, including draws and moves off a foundation, in the order of their texts. Return no moves if
    provably none do that. Return None if more than ``max_moves`` moves would have to be tried, or if there are already
    more cards on the foundations.
    """
    if board.foundation_cards > most:
        return None
    reached: list[tuple[Board, tuple[Move, ...]]] = [(board, ())]
    known = {key_of(board)}
    tried = 0
    for now, line in reached:  # grows during the loop
        moves = sorted(now.legal_moves(), key=str)
        tried += len(moves)
        if tried > max_moves:
            return None
        for move in moves:
            if move == DEAL or now.turns_up(move):
                return (*line, move)
            after = now.play(move).board
            if after.foundation_cards > most:
                return (*line, move)
            if (key := key_of(after)) not in known:
                known.add(key)
                reached.append((after, (*line, move)))
    return ()

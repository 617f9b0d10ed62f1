"""The keys that make a move."""

from __future__ import annotations

from samedeal.board import Board
from samedeal.moves import FOUNDATION, Move
from samedeal_client.board.marks import movable_counts


def keys_for(move: Move, board: Board) -> list[str]:
    """Return the keys for a move: source and target, with ``-`` in between to move fewer cards than possible."""
    if not move.is_transfer:
        return ["space"]
    at, to = board.game.index[move.source], board.game.index.get(move.target, -1)
    if at in board.game.foundations:
        return [
            FOUNDATION,
            move.target,
            *(move.source[1:] if len(foundation_cards_for(board, move.target)) > 1 else ""),
        ]
    keys = [move.source]
    fitting = [size for size in movable_counts(board, move.source) if board.is_legal(move._replace(size=size))]
    if to >= 0 and (not board.piles[to] or max(fitting) > move.size):
        keys += ["-"] * sum(size > move.size for size in movable_counts(board, move.source))
    return [*keys, move.target]


def foundation_cards_for(board: Board, target: str) -> set[int]:
    """Return the foundation cards that a column takes."""
    sources = [board.game.keys[at] for at in board.game.foundations if board.piles[at]]
    return {board.piles[board.game.index[source]][-1] for source in sources if board.is_legal(Move(source, target))}

"""How a player's hands make a move: the keys for it, and the records of races that were won."""

from __future__ import annotations

from pathlib import Path

from samedeal.board import Board
from samedeal.moves import FOUNDATION, Move
from samedeal.record import Record
from samedeal_client.board.marks import sizes

RECORDS = Path(__file__).parent.parent / "golden" / "records"


def won(game: str) -> Record:
    """A play of a game that ends with all cards up."""
    return Record.parse((RECORDS / f"{game}.txt").read_text(encoding="utf-8"))


def keys_for(move: Move, board: Board) -> list[str]:
    """The keys that make a move: two, with ``-`` between them where fewer cards go than could."""
    if not move.is_transfer:
        return ["space"]
    at, to = board.game.index[move.source], board.game.index.get(move.target, -1)
    if at in board.game.foundations:
        return [FOUNDATION, move.target, *(move.source[1:] if len(takers(board, move.target)) > 1 else "")]
    keys = [move.source]
    if to >= 0 and not board.piles[to]:
        keys += ["-"] * sum(size > move.size for size in sizes(board, move.source))
    return [*keys, move.target]


def takers(board: Board, target: str) -> set[int]:
    """The cards of foundations that a column takes."""
    sources = [board.game.keys[at] for at in board.game.foundations if board.piles[at]]
    return {board.piles[board.game.index[source]][-1] for source in sources if board.is_legal(Move(source, target))}

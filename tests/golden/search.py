"""Finds a won play of a numbered deal, for the records beside this file::

    python -m tests.golden.search willow 1 50 > tests/golden/records/willow.txt

It sees all cards and keeps, move by move, the boards that look best: no player, only a way to a game that is won.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from samedeal.board import Board
from samedeal.cards import DOWN, FACE
from samedeal.deal import Deal
from samedeal.games import Build, Game, Kind, Stock
from samedeal.moves import Move
from samedeal.play import Undo
from samedeal.record import Record
from tests.shared.playouts import numbered

RANK = 0x0F
KING = 13
KEPT = 300
LONGEST = 600


class Line(NamedTuple):
    """A board, and the moves that led to it, last first."""

    board: Board
    move: Move | None = None
    before: Line | None = None


def burden(board: Board) -> float:
    """What stands between a board and its being won, by rule of thumb."""
    game = board.game
    around = game.piles[game.foundations.start].build is Build.UP_AROUND
    awaited = awaited_around(board) if around else awaited_by_suit(board)
    cost = 0.8 * len(board.piles[game.stock_at]) if game.stock is Stock.DEAL_ROW else 0.0
    cost += sum(0.8 for at in game.of_kind(Kind.RESERVE) if board.piles[at])
    out_of_order = 0.3 if around else 1.0
    for at in game.columns:
        pile = board.piles[at]
        lowest = 13
        for card in pile:
            cost += out_of_order * (card & RANK > lowest) + 1.5 * (card >= DOWN)
            lowest = min(lowest, card & RANK)
        cost -= not pile
    if around:
        for rank, weight in awaited.items():
            cost += 0.7 * weight * min((above for card, above in covered(board) if card & RANK == rank), default=8)
    else:
        cost += sum(0.3 * awaited.get(card, 0) * above for card, above in covered(board))
        cost += sum(0.5 * len(board.piles[at]) for at in game.fans)
    return 3.0 * (game.cards - board.cards_up) + cost


def covered(board: Board) -> Iterator[tuple[int, int]]:
    """Each card of the columns and fans, and how many lie on it."""
    for at in (*board.game.columns, *board.game.fans):
        pile = board.piles[at]
        for depth, card in enumerate(pile):
            yield card & FACE, len(pile) - 1 - depth


def awaited_by_suit(board: Board) -> dict[int, float]:
    """The next cards that each foundation waits for, weighed by how soon."""
    game = board.game
    tops = [board.piles[at][-1] for at in game.foundations if board.piles[at]]
    awaited: dict[int, float] = {}
    for ace in range(1, 64, 16):
        next_ranks = [top + 1 for top in tops if top >> 4 == ace >> 4]
        for card in next_ranks + [ace] * (game.decks - len(next_ranks)):
            for ahead in range(3):
                if (card + ahead) & RANK <= KING:
                    awaited.setdefault(card + ahead, 1 / (1 + ahead))
    return awaited


def awaited_around(board: Board) -> dict[int, float]:
    """The ranks that the one foundation waits for next, weighed by how soon."""
    top = board.piles[board.game.foundations.start][-1:]
    rank = top[0] & RANK if top else 0
    return {(rank + ahead) % KING + 1: 1 / (1 + ahead) for ahead in range(5)}


def likeness(board: Board) -> tuple[object, ...]:
    """The same for boards that differ only in the order of their columns."""
    columns = board.game.columns
    return tuple(sorted(board.piles[columns.start : columns.stop])), board.piles[columns.stop :]


def won_line(board: Board, kept: int = KEPT) -> list[Move] | None:
    """Moves that win a board, or None where none were found."""
    lines = [Line(board)]
    met = {likeness(board)}
    for _ in range(LONGEST):
        found: list[tuple[float, int, Line]] = []
        for line in lines:
            for move in line.board.legal_moves():
                if line.board.is_null(move):
                    continue
                after = line.board.play(move).board
                like = likeness(after)
                if like in met:
                    continue
                met.add(like)
                grown = Line(after, move, line)
                if after.won:
                    return moves_of(grown)
                found.append((burden(after), len(found), grown))
        found.sort(key=lambda entry: entry[:2])
        lines = [line for _, _, line in found[:kept]]
        if not lines:
            return None
    return None


def moves_of(line: Line) -> list[Move]:
    """The moves of a line, first to last."""
    moves: list[Move] = []
    at: Line | None = line
    while at is not None and at.move is not None:
        moves.append(at.move)
        at = at.before
    return moves[::-1]


def main() -> None:
    game, first, last = Game.named(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kept = int(sys.argv[4]) if len(sys.argv) > 4 else KEPT
    for number in range(first, last + 1):
        moves = won_line(numbered(game, number), kept)
        print(f"#{number}: {len(moves) if moves else 'no line found'}", file=sys.stderr)
        if moves:
            deal = Deal("number", number=number)
            actions = tuple((1500 * at, str(move)) for at, move in enumerate(moves, 1))
            print(Record(game, deal, deal.public_seed(), Undo.OFF, "search", actions), end="")
            return
    sys.exit(f"No won line of {game.title} found for deals {first} to {last}")


if __name__ == "__main__":
    main()

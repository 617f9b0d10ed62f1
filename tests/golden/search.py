"""Beam search for a won play of a numbered deal, for the golden records::

    python -m tests.golden.search willow 1 50 > tests/golden/records/willow.txt

The search sees all cards. After each move it keeps the boards with the lowest estimated cost.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from samedeal.board import Board
from samedeal.cards import DOWN, FACE
from samedeal.deal import Deal
from samedeal.games import game_named
from samedeal.moves import Move
from tests.shared.playouts import numbered
from tests.shared.recorded import recorded

RANK = 0x0F
KING = 13
BEAM_WIDTH = 300
MAX_MOVES = 600


class SearchNode(NamedTuple):
    """A board, and the move from its parent's board."""

    board: Board
    move: Move | None = None
    parent: SearchNode | None = None


def estimated_cost(board: Board) -> float:
    """Estimate the cost of winning a board."""
    game = board.game
    if game.piles[game.foundations.start].takes > 1:
        return cost_of_suits(board)
    around = not game.piles[game.foundations.start].follows_suit
    awaited = wanted_around(board) if around else wanted_by_suit(board)
    cost = 0.8 * len(board.stock) if game.stock.to_columns else 0.0
    cost += sum(0.8 for at in game.reserve if board.piles[at])
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
            cost += (
                0.7 * weight * min((above for card, above in cards_with_depth(board) if card & RANK == rank), default=8)
            )
    else:
        cost += sum(0.3 * awaited.get(card, 0) * above for card, above in cards_with_depth(board))
        cost += sum(0.5 * len(board.piles[at]) for at in game.fans)
    return 3.0 * (game.cards - board.foundation_cards) + cost


def cost_of_suits(board: Board) -> float:
    """Estimate the cost of winning a board whose foundations take complete suits."""
    cost = 3.0 * (board.game.cards - board.foundation_cards)
    for at in board.game.columns:
        pile = board.piles[at]
        cost += 3.0 * sum(card >= DOWN for card in pile) - 2 * (not pile)
        for under, over in pairwise(pile):
            if over < DOWN:
                cost += 0.3 if over == under - 1 else 2.0 if over & RANK == (under & RANK) - 1 else 4.0
    return cost


def cards_with_depth(board: Board) -> Iterator[tuple[int, int]]:
    """Yield each card of the columns and fans, with the number of cards on top of it."""
    for at in (*board.game.columns, *board.game.fans):
        pile = board.piles[at]
        for depth, card in enumerate(pile):
            yield card & FACE, len(pile) - 1 - depth


def wanted_by_suit(board: Board) -> dict[int, float]:
    """Return the next cards of each foundation, with weights that decrease with the distance."""
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


def wanted_around(board: Board) -> dict[int, float]:
    """Return the next ranks of the single foundation, with weights that decrease with the distance."""
    top = board.piles[board.game.foundations.start][-1:]
    rank = top[0] & RANK if top else 0
    return {(rank + ahead) % KING + 1: 1 / (1 + ahead) for ahead in range(5)}


def board_key(board: Board) -> tuple[object, ...]:
    """Return a key that is equal for boards that differ only in the order of their columns."""
    columns = board.game.columns
    return tuple(sorted(board.piles[columns.start : columns.stop])), board.piles[columns.stop :]


def winning_moves(board: Board, kept: int = BEAM_WIDTH) -> list[Move] | None:
    """Return moves that win a board, or None if none were found."""
    lines = [SearchNode(board)]
    met = {board_key(board)}
    for _ in range(MAX_MOVES):
        found: list[tuple[float, int, SearchNode]] = []
        for line in lines:
            for move in line.board.legal_moves():
                if line.board.is_null(move):
                    continue
                after = line.board.play(move).board
                like = board_key(after)
                if like in met:
                    continue
                met.add(like)
                grown = SearchNode(after, move, line)
                if after.won:
                    return moves_of(grown)
                found.append((estimated_cost(after), len(found), grown))
        found.sort(key=lambda entry: entry[:2])
        lines = [line for _, _, line in found[:kept]]
        if not lines:
            return None
    return None


def moves_of(line: SearchNode) -> list[Move]:
    """Return the moves to a node, first to last."""
    moves: list[Move] = []
    at: SearchNode | None = line
    while at is not None and at.move is not None:
        moves.append(at.move)
        at = at.parent
    return moves[::-1]


def main() -> None:
    game, first, last = game_named(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kept = int(sys.argv[4]) if len(sys.argv) > 4 else BEAM_WIDTH
    for number in range(first, last + 1):
        moves = winning_moves(numbered(game, number), kept)
        print(f"#{number}: {len(moves) if moves else 'no line found'}", file=sys.stderr)
        if moves:
            deal = Deal("number", number=number)
            actions = tuple((1500 * at, str(move)) for at, move in enumerate(moves, 1))
            print(recorded(game.name, str(deal), ("search", actions), undo="off", limit=7200), end="")
            return
    sys.exit(f"No won line of {game.title} found for deals {first} to {last}")


if __name__ == "__main__":
    main()

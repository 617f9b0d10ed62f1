"""Best-first search over the boards that a player can foresee.

No board is searched twice, and the number of searched boards is limited. A line of moves ends at the latest with a move
that turns up an unseen card. The board after this move is unknown, so its worth is estimated, and a bonus is added.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.cards import FACE, HIDDEN
from samedeal.laws.stuck import Key, key_of
from samedeal.moves import DEAL, DRAW, Move
from samedeal_link.solving.evaluation import Evaluation

_WON: Final = 1e9
"""The gain of a line of moves that wins."""

_LINE_HASTE: Final = 0.1
"""The fraction of ``BotWeights.haste``, the cost of a move, that counts when lines of moves are compared.

The order in which boards are searched depends on the full cost.
"""


class SearchLine(NamedTuple):
    """Moves to be made one after another. ``gain`` is the worth of the last board minus the worth of the first."""

    moves: tuple[Move, ...]
    gain: float


class SearchResult(NamedTuple):
    """The best line of moves, and the line that brings the most cards to the foundations.

    Either of them is None if there is no such line.
    """

    best: SearchLine | None
    most_foundation_cards: SearchLine | None


class _Node(NamedTuple):
    """A board, and the move that led to it from the board of ``parent``."""

    board: Board
    parent: _Node | None
    move: Move | None


def search(board: Board, evaluate: Evaluation, visited: AbstractSet[Key], node_budget: int) -> SearchResult:
    """Search up to ``node_budget`` boards from a masked board. No line of moves ends on a board in ``visited``."""
    haste = evaluate.weights.haste
    start_worth = evaluate(board)
    tie_breaker = count()
    queue = [(-start_worth, next(tie_breaker), 0, _Node(board, None, None))]
    seen = {key_of(board)}
    best, best_worth = None, 0.0
    highest, most_cards = None, board.foundation_cards
    searched = 0
    while queue and searched < node_budget:
        _, _, depth, node = heappop(queue)
        current = node.board
        penalty = _LINE_HASTE * haste * depth
        for move in current.legal_moves():
            if move.is_transfer and (current.is_worry_back(move) or current.is_null(move)):
                continue
            searched += 1
            if current.turns_up(move):
                worth = _worth_of_reveal(current, move, evaluate) - penalty
                if best is None or worth > best_worth:
                    best, best_worth = _Node(current, node, move), worth
                continue
            after = current.play(move).board
            key = key_of(after)
            if key in seen:
                continue
            seen.add(key)
            child = _Node(after, node, move)
            if after.won:
                line = SearchLine(_moves_to(child), _WON)
                return SearchResult(line, line)
            worth = evaluate(after)
            if key not in visited:
                if best is None or worth - penalty > best_worth:
                    best, best_worth = child, worth - penalty
                if (cards := after.foundation_cards) > most_cards:
                    highest, most_cards = child, cards
            heappush(queue, (haste * depth - worth, next(tie_breaker), depth + 1, child))
    return SearchResult(
        SearchLine(_moves_to(best), best_worth - start_worth) if best else None,
        SearchLine(_moves_to(highest), evaluate(highest.board) - start_worth) if highest else None,
    )


def _worth_of_reveal(board: Board, move: Move, evaluate: Evaluation) -> float:
    """Return the worth of a move that turns up unseen cards: an estimate for the board after the move, plus a bonus."""
    weights = evaluate.weights
    if move == DRAW:
        return evaluate(board) + weights.draw
    if move == DEAL:
        return evaluate(board) + weights.deal
    return evaluate(board.play(move, _median_unseen_card(board)).board) + weights.reveal


def _median_unseen_card(board: Board) -> bytes:
    """Return the unseen card of median rank, which stands for any card that a move turns up."""
    unseen = list(board.game.deck)
    for pile in board.piles:
        for code in pile:
            if code != HIDDEN:
                unseen.remove(code & FACE)
    unseen.sort(key=lambda code: code & 0x0F)
    return bytes(unseen[len(unseen) // 2 : len(unseen) // 2 + 1])


def _moves_to(node: _Node) -> tuple[Move, ...]:
    """Return the moves from the start of the search to a node."""
    moves: list[Move] = []
    current: _Node | None = node
    while current is not None and current.move is not None:
        moves.append(current.move)
        current = current.parent
    return tuple(reversed(moves))

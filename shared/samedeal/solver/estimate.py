"""Estimates of how far a state is from being won. They only decide the order in which states are searched.

The estimate of a state is the sum of the costs of its columns and its *side*. The side is all cards that are neither in
a column nor on a foundation. A cost is a number without a unit. A state with a lower estimate is searched earlier.
"""

from __future__ import annotations

from typing import Final

from samedeal.cards import DOWN, FACE
from samedeal.game import Game, Group
from samedeal.game_file import SearchWeights
from samedeal.policies import Build
from samedeal.solver.states import Side

_RANK: Final = 0x0F

_WEIGHTS: Final = {
    (Build.DOWN_ALTERNATING, "reserve"): (
        # One search is best here: most boards can't be won, and have so few states that it can reach all of them.
        SearchWeights(card=6, side_card=7, buried=9, broken=1, misfit=5, column=7),
    ),
    (Build.DOWN_ALTERNATING, "fans"): (
        SearchWeights(card=10, side_card=10, buried=2, buried_in_fan=5, broken=3, misfit=6),
        SearchWeights(card=6, side_card=7, buried=9, buried_in_fan=3, broken=1, misfit=5, column=7),
        SearchWeights(card=5, side_card=5, buried=2, buried_in_fan=2, column=3),
        SearchWeights(card=3, side_card=3, buried_in_fan=2, broken=3, column=9),
    ),
    (Build.DOWN_ALTERNATING, ""): (
        SearchWeights(card=4, side_card=4, buried=3, broken=1, column=4),
        SearchWeights(card=10, side_card=10, buried=2, broken=3, misfit=6),
        SearchWeights(card=4, side_card=8, buried=4, broken=2),
        SearchWeights(card=6, side_card=7, buried=9, broken=1, misfit=5, column=7),
    ),
    (Build.DOWN_SAME_SUIT, ""): (
        SearchWeights(card=1, side_card=16, buried=3, broken=2, misfit=10, column=2),
        SearchWeights(card=5, side_card=12, buried=2, broken=2, misfit=10, column=2),
    ),
    (Build.DOWN_ANY_SUIT, ""): (
        SearchWeights(card=1, side_card=10, buried=10, broken=6, misfit=1, column=2, by_stock=1),
    ),
}
"""The weights for each kind of game, the best ones first. They were found by trying many on numbered deals above #1000."""


def weights_of(game: Game) -> tuple[SearchWeights, ...]:
    """Return the weights to try for a game, the best ones first: those of its file, or the usual ones."""
    if game.file.search:
        return game.file.search
    build = game.piles[game.columns.start].build
    others = "reserve" if game.singles else "fans" if game.fans else ""
    return _WEIGHTS.get((build, others)) or _WEIGHTS.get((build, "")) or _WEIGHTS[Build.DOWN_ANY_SUIT, ""]


class Estimate:
    """The costs of the parts of a state, with one choice of weights."""

    def __init__(self, game: Game, weights: SearchWeights) -> None:
        self.weights = weights
        self._columns: Group = game.piles[game.columns.start]
        self._rows = game.stock.to_columns

    @property
    def most(self) -> int:
        """An upper bound for the cost of one card. It includes ``weights.column``, as a column may have only one card."""
        weights = self.weights
        return max(
            weights.card + weights.buried + weights.broken + weights.misfit + weights.hidden + weights.column,
            weights.side_card,
            weights.card + weights.buried_in_fan,
        )

    def column(self, column: bytes) -> int:
        """Return the cost of a column, which estimates how much work is left to clear it. A lower cost is better.

        The cost is a sum of weights, without a unit. It depends on the number of cards and their order, and is 0 if the
        column is empty.
        """
        if not column:
            return 0
        weights, sequence, on = self.weights, self._columns.sequence, self._columns.on
        cost = weights.column + weights.card * len(column)
        below, lowest = 0, _RANK
        for card in column:
            rank = card & _RANK
            if card >= DOWN:
                cost += weights.hidden
            if rank > lowest:
                cost += weights.buried
            else:
                lowest = rank
            if below and card not in sequence[below]:
                cost += weights.broken
                if card & FACE not in on[below & FACE]:
                    cost += weights.misfit
            below = card
        return cost

    def side(self, packed: bytes) -> int:
        """Return the cost of the packed side of a state: of its stock, waste, reserve and fans.

        The cost is a sum of weights, without a unit. A lower cost is better.
        """
        side, weights = Side.unpack(packed), self.weights
        stock_cards = sum(side.stock) if self._rows else max(len(side.stock) - 1, 0)
        cost = weights.side_card * (len(side.reserve) + stock_cards)
        for fan in side.fans:
            lowest = _RANK
            for card in fan:
                rank = card & _RANK
                cost += weights.card + (weights.buried_in_fan if rank > lowest else 0)
                lowest = min(lowest, rank)
        return cost

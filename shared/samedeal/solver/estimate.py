"""Estimates of how far a state is from being won. They only decide the order in which states are searched.

The estimate of a state is the sum of the costs of its columns and its *side*. The side is all cards that are neither in
a column nor on a foundation. A cost is a number without a unit. A state with a lower estimate is searched earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.cards import FACE
from samedeal.game import Game, Group
from samedeal.policies import Build
from samedeal.solver.states import Side

_RANK: Final = 0x0F


@dataclass(frozen=True)
class CostWeights:
    """The weights of the costs for one kind of game. They were found by trying many on numbered deals above #1000.

    ``card`` is the cost of a card in a column or a fan, and ``side_card`` is the cost of a card in the stock, waste or
    reserve. ``buried`` is added for a card in a column that lies above a card of a lower rank, and ``buried_in_fan``
    for such a card in a fan. In columns, ``broken`` is added for a card that is not in sequence with the card below it.
    ``misfit`` is added if, moreover, the rules would not allow the card on the card below it. ``column`` is added for
    each column that is not empty. ``given`` is added to the estimate of a state after a move off a foundation.
    """

    card: int
    side_card: int
    buried: int = 0
    buried_in_fan: int = 0
    broken: int = 0
    misfit: int = 0
    column: int = 0
    given: int = 0


_WEIGHTS: Final = {
    (Build.DOWN_ALTERNATING, "reserve"): (
        # One search is best here: most boards can't be won, and have so few states that it can reach all of them.
        CostWeights(card=6, side_card=7, buried=9, broken=1, misfit=5, column=7),
    ),
    (Build.DOWN_ALTERNATING, "fans"): (
        CostWeights(card=10, side_card=10, buried=2, buried_in_fan=5, broken=3, misfit=6),
        CostWeights(card=6, side_card=7, buried=9, buried_in_fan=3, broken=1, misfit=5, column=7),
        CostWeights(card=5, side_card=5, buried=2, buried_in_fan=2, column=3),
        CostWeights(card=3, side_card=3, buried_in_fan=2, broken=3, column=9),
    ),
    (Build.DOWN_ALTERNATING, ""): (
        CostWeights(card=4, side_card=4, buried=3, broken=1, column=4),
        CostWeights(card=10, side_card=10, buried=2, broken=3, misfit=6),
        CostWeights(card=4, side_card=8, buried=4, broken=2),
        CostWeights(card=6, side_card=7, buried=9, broken=1, misfit=5, column=7),
    ),
    (Build.DOWN_SAME_SUIT, ""): (
        CostWeights(card=1, side_card=16, buried=3, broken=2, misfit=10, column=2),
        CostWeights(card=5, side_card=12, buried=2, broken=2, misfit=10, column=2),
    ),
    (Build.DOWN_ANY_SUIT, ""): (
        CostWeights(card=1, side_card=10, buried=10, broken=6, misfit=1, column=2, given=15),
        CostWeights(card=1, side_card=10, buried=9, broken=1, misfit=3, column=2, given=8),
    ),
}
"""The weights for each kind of game, the best ones first."""


def weights_of(game: Game) -> tuple[CostWeights, ...]:
    """Return the weights to try for a game, the best ones first."""
    build = game.piles[game.columns.start].build
    others = "reserve" if game.reserve else "fans" if game.fans else ""
    return _WEIGHTS.get((build, others)) or _WEIGHTS[build, ""]


class Estimate:
    """The costs of the parts of a state, with one choice of weights."""

    def __init__(self, game: Game, weights: CostWeights) -> None:
        self.weights = weights
        self._columns: Group = game.piles[game.columns.start]
        self._rows = game.stock.to_columns

    @property
    def most(self) -> int:
        """An upper bound for the cost of one card. It includes ``weights.column``, as a column may have only one card."""
        weights = self.weights
        return max(
            weights.card + weights.buried + weights.broken + weights.misfit + weights.column,
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

"""Estimates of how far a state is from being won. They only decide the order in which states are searched.

The estimate of a state is the sum of the costs of its columns and its *side*. The side is all cards that are neither in
a column nor on a foundation. A cost is a number without a unit. A state with a lower estimate is searched earlier.
"""

from __future__ import annotations

from typing import Final

from samedeal.cards import DOWN, FACE
from samedeal.data_files import read_data
from samedeal.game import Game, Group
from samedeal.game_file import SearchWeights
from samedeal.policies import Build
from samedeal.solver.states import Side

_RANK: Final = 0x0F

_USUAL: Final = read_data("samedeal.solver", "usual_searches.toml", dict[str, tuple[SearchWeights, ...]])


def weights_of(game: Game) -> tuple[SearchWeights, ...]:
    """Return the weights to try for a game, the best ones first: those of its file, or the usual ones."""
    if game.file.search:
        return game.file.search
    build = game.piles[game.columns.start].build
    others = ", with a reserve" if game.singles else ", with fans" if game.fans else ""
    return _USUAL.get(f"{build}{others}") or _USUAL.get(build) or _USUAL[Build.DOWN_ANY_SUIT]


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

"""The evaluation of a board for its player, from the cards that the player sees.

The worth of a column depends only on the column's own cards. Most columns stay the same from one board to the next, so the
worth of each column is cached.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec import structs

from samedeal.board import Board
from samedeal.cards import DOWN
from samedeal.game import Game
from samedeal.game_file import BotWeights
from samedeal.solver.search import Facts
from samedeal_link.solving.temperament import Temperament

_CACHED_COLUMNS: Final = 200_000


def varied(weights: BotWeights, rng: Random, temperament: Temperament) -> BotWeights:
    """Return weights with random changes. ``temperament`` decides how large the changes are."""
    low, high = 1 - temperament.taste, 1 + temperament.taste
    changed = {name: getattr(weights, name) * rng.uniform(low, high) for name in BotWeights.__struct_fields__}
    bonuses = {name: temperament.risk * changed[name] for name in ("reveal", "draw", "deal")}
    return structs.replace(weights, **{**changed, **bonuses})


class Evaluation:
    """The evaluation of boards of one game. Calling the object with a board returns the board's worth.

    ``whim`` returns a random amount. The evaluation calls it when it first sees a sequence of cards in a column, and adds
    the amount to the worth of every column with the same cards.
    """

    def __init__(self, game: Game, weights: BotWeights, whim: Callable[[], float] = lambda: 0.0) -> None:
        self.weights = weights
        self._given = game, weights, whim
        self._columns = game.columns
        self._foundations = game.foundations
        self._fans = game.fans
        self._undealt = [at for at in (game.stock_at, game.waste_at) if at >= 0]
        column = game.piles[game.columns.start]
        self._sequence = column.sequence
        self._on = column.on
        self._column_worths = Facts(lambda pile: self._column(pile) + whim())
        self._fan_worths = Facts(self._fan)

    def __reduce__(self) -> tuple[type[Evaluation], tuple[Game, BotWeights, Callable[[], float]]]:
        """Return what pickle keeps: not the worths, which are found again."""
        return Evaluation, self._given

    def __call__(self, board: Board) -> float:
        """Return the worth of a board. Only differences between boards of the same game are meaningful."""
        piles, columns, fans = board.piles, self._column_worths, self._fan_worths
        if len(columns) > _CACHED_COLUMNS:
            columns.clear()
        worth = 0.0
        for at in self._columns:
            worth += columns[piles[at]]
        foundation_cards = 0
        for at in self._foundations:
            foundation_cards += len(piles[at])
        worth += self.weights.foundation * foundation_cards
        for at in self._fans:
            worth += fans[piles[at]]
        for at in self._undealt:
            worth -= self.weights.stock * len(piles[at])
        return worth

    def _column(self, pile: bytes) -> float:
        weights = self.weights
        if not pile:
            return weights.empty
        worth = weights.king if pile[0] & 0x0F == 13 else 0.0
        lowest = 99
        under = -1
        for depth, card in enumerate(pile):
            if card >= DOWN:
                worth -= weights.face_down
                under = card
                continue
            rank = card & 0x0F
            if depth:
                if card in self._sequence[under]:
                    worth += weights.run
                elif card in self._on[under]:
                    worth += weights.pair
                else:
                    worth -= weights.gap
            worth -= weights.buried * (13 - rank) * (len(pile) - 1 - depth) / 13
            if rank > lowest:
                worth -= weights.blocked
            lowest = min(lowest, rank)
            under = card
        return worth

    def _fan(self, pile: bytes) -> float:
        buried = sum((13 - (card & 0x0F)) * (len(pile) - 1 - depth) for depth, card in enumerate(pile)) / 13
        return -self.weights.fan * len(pile) - self.weights.fan_buried * buried

"""How good a board is for its player: a number that the careful bot climbs. Only what the player sees counts.

A column is judged by how its cards lie on each other; since most columns stay as they are from one board to the next, each
is judged once and remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.cards import ACE_OF_HEARTS, DOWN
from samedeal.games import Build, Game, Lift

_REMEMBERED: Final = 200_000
_FURTHEST: Final = 12
_WANTED_RANKS: Final = 4


@dataclass(frozen=True)
class Weights:
    """What is good about a board (as a sum) and about a way to get there.

    ``up`` a card on a foundation; ``empty`` an empty column; ``king`` a column that begins with a king; ``run`` two cards
    that can be lifted together; ``pair`` two that fit but can't; ``gap`` (against it) two that don't; ``down`` (against) a
    card face down; ``buried`` (against) each card above a low one, more for lower ones; ``blocked`` (against) a card that
    lies above a lower one; ``fan``, ``fan_buried`` (against) the same in fans; ``stock`` (against) a card in stock or waste;
    ``wanted`` (against) each card above the next one that the only foundation takes, ``wanted_later`` what share of that
    counts for the rank after it, and so on.

    For the way: ``haste`` (against) each move; ``reveal``, ``draw``, ``deal`` what a move that turns up cards is worth.
    """

    up: float = 5.0
    empty: float = 4.0
    king: float = 1.0
    run: float = 1.0
    pair: float = 0.3
    gap: float = 0.5
    down: float = 3.0
    buried: float = 0.5
    blocked: float = 1.4
    fan: float = 0.5
    fan_buried: float = 1.0
    stock: float = 0.5
    wanted: float = 0.0
    wanted_later: float = 0.7
    haste: float = 0.3
    reveal: float = 2.0
    draw: float = 0.6
    deal: float = 0.03

    def varied(self, rng: Random) -> Weights:
        """Weights a little different, so that bots who know the same play each in a way of their own."""
        return replace(self, **{each.name: getattr(self, each.name) * rng.uniform(0.9, 1.1) for each in fields(self)})


WEIGHTS: Final[dict[str, Weights]] = {
    "athena": Weights(
        empty=3.2,
        king=0.48,
        pair=0.14,
        gap=0.41,
        down=2.0,
        buried=0.75,
        blocked=2.24,
        stock=0.0,
        haste=1,
        reveal=10,
        draw=0.17,
    ),
    "steve": Weights(
        up=2.5, king=0.1, run=1.4, gap=0.35, buried=0.15, blocked=0.98, stock=0.98, haste=1.26, reveal=0.63, deal=0.09
    ),
    "phoenix": Weights(up=1.6, empty=25.6, king=1.5, run=0.75, pair=3.2, gap=0.16, buried=0.62, haste=0.088),
    "ace-of-hearts": Weights(
        up=0.48, king=0.24, pair=1.0, gap=0.48, buried=0, blocked=0, wanted=0.4, haste=0.063, reveal=0.25, deal=0.008
    ),
    "willow": Weights(up=4.8, empty=2, king=1.88, run=2.0, pair=2.0, gap=0.15, buried=0.62, fan=0.3, haste=0.12),
}
"""Found by playing sixty numbered deals of each game with weights changed at random, and keeping what won more."""


class Appraisal:
    """The worth of boards of one game."""

    def __init__(self, game: Game, weights: Weights) -> None:
        self.weights = weights
        self._columns = game.columns
        self._foundations = game.foundations
        self._fans = game.fans
        self._stock = [at for at in (game.stock_at, game.waste_at) if at >= 0]
        column = game.piles[game.columns.start]
        self._run = column.on if column.lift is Lift.ANY else column.run
        self._on = column.on
        self._in_turn = game.piles[game.foundations.start].build is Build.UP_AROUND
        self._known: dict[bytes, float] = {}
        self._known_fans: dict[bytes, float] = {}

    def __call__(self, board: Board) -> float:
        """The worth of a board; only differences between boards of one game mean something."""
        piles = board.piles
        known = self._known
        worth = 0.0
        for at in self._columns:
            pile = piles[at]
            value = known.get(pile)
            if value is None:
                value = self._remember(pile)
            worth += value
        up = 0
        for at in self._foundations:
            up += len(piles[at])
        worth += self.weights.up * up
        for at in self._fans:
            worth += self._fan(piles[at])
        for at in self._stock:
            worth -= self.weights.stock * len(piles[at])
        return worth - self._wanted(board) if self._in_turn else worth

    def _remember(self, pile: bytes) -> float:
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        value = self._known[pile] = self._column(pile)
        return value

    def _column(self, pile: bytes) -> float:
        weights = self.weights
        if not pile:
            return weights.empty
        worth = weights.king if pile[0] & 0x0F == 13 else 0.0
        lowest = 99
        under = -1
        for depth, card in enumerate(pile):
            if card >= DOWN:
                worth -= weights.down
                under = card
                continue
            rank = card & 0x0F
            if depth:
                if card in self._run[under]:
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
        value = self._known_fans.get(pile)
        if value is None:
            weights = self.weights
            buried = sum((13 - (card & 0x0F)) * (len(pile) - 1 - depth) for depth, card in enumerate(pile)) / 13
            value = self._known_fans[pile] = -weights.fan * len(pile) - weights.fan_buried * buried
        return value

    def _wanted(self, board: Board) -> float:
        """How far the cards are that the only foundation takes next, whose suits don't matter."""
        foundation = board.piles[self._foundations.start]
        if not foundation:
            wanted: list[tuple[int, ...]] = [(ACE_OF_HEARTS,)]
            rank = 1
        else:
            wanted = []
            rank = foundation[-1] & 0x0F
        while len(wanted) < _WANTED_RANKS:
            rank = rank % 13 + 1
            wanted.append(tuple(suit << 4 | rank for suit in range(4)))
        far = 0.0
        weight = self.weights.wanted
        columns = [board.piles[at] for at in self._columns]
        for cards in wanted:
            nearest = _FURTHEST
            for card in cards:
                for pile in columns:
                    place = pile.find(card)
                    if place >= 0:
                        nearest = min(nearest, len(pile) - 1 - place)
                        break
            far += weight * nearest
            weight *= self.weights.wanted_later
        return far

"""When a bot gives up its race, so that nobody waits for one that gets nowhere. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal_client.bots.strategy import Level
from samedeal_client.rooms.prospects import hopeless

FRUITLESS: Final[dict[Level, int]] = {"random": 400, "greedy": 100, "careful": 100}
"""Moves in a row without gain that a level makes at the most. It is more than came before a gain in any race that was won of
the numbered deals up to 300 of each game; most races are given up long before, where it is proven that nothing helps."""

_EVERY: Final = 10
_MOST_TRIED: Final = 4000
"""How often, in moves without gain, it is looked whether any gain can still be reached, and how hard: 30 ms."""


@dataclass
class Patience:
    """Follows a bot's race. A gain is a card up, or turned up, more than ever before in it."""

    level: Level
    up: int = -1
    hidden: int = 104
    fruitless: int = 0

    def ends(self, board: Board) -> bool:
        """Whether to give up on a board, as the bot sees it; to be asked before every move."""
        up, hidden = board.cards_up, sum(pile.count(HIDDEN) for pile in board.piles)
        if up > self.up or hidden < self.hidden:
            self.up, self.hidden, self.fruitless = max(up, self.up), min(hidden, self.hidden), 0
            return False
        self.fruitless += 1
        if self.fruitless % _EVERY == 0 and hopeless(board, _MOST_TRIED):
            return True
        return self.fruitless > FRUITLESS[self.level]

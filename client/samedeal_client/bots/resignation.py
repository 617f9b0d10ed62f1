"""The rule for when a bot resigns, so that nobody waits for a bot that makes no progress. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal_client.state.bot_levels import Level
from samedeal_client.state.dead_end import is_dead_end

MAX_MOVES_WITHOUT_GAIN: Final[dict[Level, int]] = {"random": 400, "greedy": 100, "careful": 100}
"""Maximum number of moves in a row without a gain, for each level.

On the deals 1 to 300 of each game, no bot that won needed as many moves without a gain. Most hopeless races end
earlier, when a dead end is proven.
"""

_CHECK_INTERVAL: Final = 10
"""Number of moves without a gain between two searches for a dead end."""

_MAX_SEARCHED: Final = 4000
"""Maximum number of moves tried in a search for a dead end. The search takes 30 ms."""


@dataclass
class ResignPolicy:
    """The rule by which a bot resigns from one race.

    The bot resigns after too many moves without a gain. A gain is a new maximum of cards on foundations, or a new
    minimum of hidden cards.
    """

    level: Level
    foundation_cards: int = -1
    hidden: int = 104
    moves_without_gain: int = 0

    def should_resign(self, board: Board) -> bool:
        """Return whether to resign on a board as the bot sees it. Call this before every move."""
        foundation_cards, hidden = board.foundation_cards, sum(pile.count(HIDDEN) for pile in board.piles)
        if foundation_cards > self.foundation_cards or hidden < self.hidden:
            self.foundation_cards = max(foundation_cards, self.foundation_cards)
            self.hidden = min(hidden, self.hidden)
            self.moves_without_gain = 0
            return False
        self.moves_without_gain += 1
        if self.moves_without_gain % _CHECK_INTERVAL == 0 and is_dead_end(board, _MAX_SEARCHED):
            return True
        return self.moves_without_gain > MAX_MOVES_WITHOUT_GAIN[self.level]

"""The difficulty of winnable deals: the number of states that the solver needs to win. DEALS.md explains the numbers."""

from __future__ import annotations

from typing import Final

from samedeal.deal import DIFFICULTIES, Difficulty
from samedeal.games import Game

SEARCH_BUDGET: Final = 100_000
"""Maximum number of states in which the solver must win a deal. A smaller budget would prefer easy deals."""

_BANDS: Final = {
    "athena": (435, 1667),
    "phoenix": (612, 1956),
    "ace-of-hearts": (294, 346),
    "willow": (586, 4141),
}
"""For each game, the maximum number of states of an easy deal and of a medium deal.

They divide the deals that can be won into thirds, for one version of the solver. Steve has none: searches for its deals
are the slowest, and a search for one of three difficulties would take three times as long.
"""


def states_of(game: Game, difficulty: Difficulty) -> tuple[int, int]:
    """Return the fewest and the most states that the solver searches until it wins a deal of a difficulty.

    Raises ValueError if the game has no deals of this difficulty.
    """
    if not difficulty:
        return 1, SEARCH_BUDGET
    if game.name not in _BANDS:
        raise ValueError(f"{game.title} has no easy, medium or hard deals. Use 'winnable'.")
    limits = (0, *_BANDS[game.name], SEARCH_BUDGET)
    at = DIFFICULTIES.index(difficulty)
    return limits[at] + 1, limits[at + 1]

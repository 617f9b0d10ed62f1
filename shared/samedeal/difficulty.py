"""How hard a winnable deal is: how many states the solver needs for it. DEALS.md, *Difficulty*, has the numbers."""

from __future__ import annotations

from typing import Final

from samedeal.deal import DIFFICULTIES, Difficulty
from samedeal.games import Game

SEARCH_BUDGET: Final = 100_000
"""The number of states within which the solver must win a deal. A smaller one would prefer easy deals."""

_BANDS: Final = {
    "athena": (435, 1667),
    "phoenix": (612, 1956),
    "ace-of-hearts": (294, 346),
    "willow": (586, 4141),
}
"""For each game, the most states of its easy deals and of its medium deals. They part the deals that were won in thirds.

The numbers belong to one version of the solver. Steve has none: its searches are the slowest already, and searching for
a third of its deals would take three times as long.
"""


def states_of(game: Game, difficulty: Difficulty) -> tuple[int, int]:
    """Return how many states the solver must need for a deal of a difficulty, at least and at most.

    Raises ValueError if the game has no deals of this difficulty.
    """
    if not difficulty:
        return 1, SEARCH_BUDGET
    if game.name not in _BANDS:
        raise ValueError(
            f"{game.title} has no easy, medium or hard deals, because finding one can take too long. "
            "Use the deal 'winnable' instead."
        )
    limits = (0, *_BANDS[game.name], SEARCH_BUDGET)
    at = DIFFICULTIES.index(difficulty)
    return limits[at] + 1, limits[at + 1]

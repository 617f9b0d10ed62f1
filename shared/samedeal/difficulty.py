"""The difficulty of winnable deals: how many states the solver's search reaches until it wins.

A state is a way in which the cards can lie. The file of a game says how many states an easy deal and a medium deal
need. Of the deals that this version of the solver wins, about a third are easy, a third medium and a third hard. Games
whose deals take long to find have no difficulties. DEALS.md explains the numbers.
"""

from __future__ import annotations

from typing import Final

from samedeal.deal import DIFFICULTIES, Difficulty
from samedeal.game import Game

SEARCH_BUDGET: Final = 100_000
"""Maximum number of states in which the solver must win a deal. A lower maximum would prefer easy deals."""


def states_of(game: Game, difficulty: Difficulty) -> tuple[int, int]:
    """Return the minimum and the maximum number of states that the solver needs to win a deal of this difficulty.

    Raise ValueError if the game has no deals of this difficulty.
    """
    if not difficulty:
        return 1, SEARCH_BUDGET
    bounds = game.file.difficulty
    if bounds is None:
        raise ValueError(f"{game.title} has no easy, medium or hard deals. Use 'winnable'.")
    limits = (0, bounds.easy, bounds.medium, SEARCH_BUDGET)
    at = DIFFICULTIES.index(difficulty)
    return limits[at] + 1, limits[at + 1]


def search_limits(game: Game) -> frozenset[tuple[int, int]]:
    """Return the limits of all searches for deals of a game: the minimum and the maximum number of states."""
    difficulties: tuple[Difficulty, ...] = ("", *DIFFICULTIES) if game.file.difficulty else ("",)
    return frozenset(states_of(game, difficulty) for difficulty in difficulties)

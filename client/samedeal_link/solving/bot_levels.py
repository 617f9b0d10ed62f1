"""The levels at which bots play, and how fast."""

from __future__ import annotations

from typing import Final, Literal, get_args

from samedeal.game import Game

Level = Literal["random", "patient", "greedy", "careful"]
ALL_LEVELS: Final[tuple[Level, ...]] = get_args(Level)
LEVELS: Final = ALL_LEVELS[1:]
"""The levels that are shown to people, the strongest one last. Random bots are for tests."""

SPEEDS: Final[dict[Level, float]] = {"random": 1, "patient": 0.9, "greedy": 1.3, "careful": 1}
"""By what the pace of a bot is multiplied. A patient bot plays like a careful one, but takes its time."""

MIXES: Final[dict[str, tuple[Level, ...]]] = {"mixed": LEVELS[::-1], **{level: (level,) for level in ALL_LEVELS}}
"""Mixes of bots by name. The bots of a mix get the levels of the mix in turn."""


def thought_time(level: Level, game: Game, pace: float = 0.0) -> float:
    """Return the time, in seconds, that a bot takes for a move that needs a thought.

    ``pace`` is how many such moves it makes a minute, or 0 for that of a bot of the house.
    """
    return 60 / ((pace or game.file.pace) * SPEEDS[level])

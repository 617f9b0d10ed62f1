"""The temperaments of bots, in which bots of the same level differ."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final


@dataclass(frozen=True)
class Temperament:
    """A bot's character.

    ``pace`` multiplies the bot's speed, ``risk`` its bonus for turning up cards, and ``thoroughness`` the number of
    boards that it searches. ``unevenness`` is the share by which the time between two moves varies. ``taste`` is the
    largest share by which the bot's weights differ from the tuned weights of the game. ``whim`` is the largest random
    amount that is added to the worth of a column or subtracted from it. For comparison, an average weight is 1.
    """

    pace: float = 1.0
    unevenness: float = 0.4
    risk: float = 1.0
    thoroughness: float = 1.0
    taste: float = 0.1
    whim: float = 0.0

    @classmethod
    def random(cls, rng: Random) -> Temperament:
        """Return a random temperament."""
        return cls(
            pace=rng.uniform(0.75, 1.3),
            unevenness=rng.uniform(0.2, 0.7),
            risk=rng.uniform(0.6, 1.6),
            thoroughness=rng.uniform(0.5, 1.1),
            taste=0.25,
            whim=rng.uniform(0.2, 0.6),
        )


STEADY: Final = Temperament()
"""The temperament of engines."""

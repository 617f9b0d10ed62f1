"""The standing order of a race.

Players who finished come first, in the order in which they finished. The others follow, those with more cards on
foundations first. Of players with the same number, the one who reached it first comes first. Players with the same result
share a place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

_Player = TypeVar("_Player")


class Result(NamedTuple):
    """A player's progress, from which the place follows.

    ``finished_at`` is the time of the finish. ``last_progress_at`` is the time at which ``foundation_cards`` last changed.
    Both are in milliseconds since 1970, and 0 means not yet. ``seat`` orders players who share a place.
    """

    seat: int
    foundation_cards: int
    finished_at: int
    last_progress_at: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """A sort key. A smaller rank is better, and players with equal ranks share a place."""
        return (0, self.finished_at, 0) if self.finished_at else (1, -self.foundation_cards, self.last_progress_at)


def ranked(results: Iterable[tuple[_Player, Result]]) -> list[tuple[int, _Player]]:
    """Return the players with their places, counted from 1, the first place first."""
    ordered = sorted(results, key=lambda pair: (pair[1].rank, pair[1].seat))
    ranks = [result.rank for _, result in ordered]
    return [(ranks.index(result.rank) + 1, player) for player, result in ordered]

"""The order of players at the end of a race.

Players who finished come first, in the order of their finishes. The others are ordered by their foundation cards. Of
players with the same number of them, the player who reached this number first comes first. Players who never began, in a
race with a window, come last. Players with the same result share a place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

_Player = TypeVar("_Player")


class Result(NamedTuple):
    """The result of a player, which decides the player's place.

    ``finished_at`` is when the player finished. ``last_progress_at`` is when ``foundation_cards`` last changed. Both
    times are in milliseconds since 1970, and 0 if their event has not happened. ``seat`` decides the order of players
    who share a place. ``has_raced`` is false of a player who never began.
    """

    seat: int
    foundation_cards: int
    finished_at: int
    last_progress_at: int
    has_raced: bool = True

    @property
    def rank(self) -> tuple[int, int, int]:
        """A key for sorting results, best first. Players with equal ranks share a place."""
        if not self.has_raced:
            return (2, 0, 0)
        return (0, self.finished_at, 0) if self.finished_at else (1, -self.foundation_cards, self.last_progress_at)


def ranked(results: Iterable[tuple[_Player, Result]]) -> list[tuple[int, _Player]]:
    """Return the players with their places, best first. The first place is 1."""
    ordered = sorted(results, key=lambda pair: (pair[1].rank, pair[1].seat))
    ranks = [result.rank for _, result in ordered]
    return [(ranks.index(result.rank) + 1, player) for player, result in ordered]

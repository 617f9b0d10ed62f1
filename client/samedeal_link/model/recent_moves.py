"""The newest moves of a player, from which the player's pace is counted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

MOST_POINTS: Final = 300
"""Maximum number of points that are kept: those of half a minute, if a server sends ten a second."""


@dataclass(frozen=True, slots=True)
class RecentMoves:
    """Points in time, in milliseconds since 1970, each with the number of moves that a player had made by then."""

    points: tuple[tuple[int, int], ...] = ()

    def after(self, time: int, moves: int) -> RecentMoves:
        """Return the points with one more. An older point, or one with the same number, changes nothing."""
        if self.points and (time < self.points[-1][0] or moves == self.points[-1][1]):
            return self
        return RecentMoves((*self.points, (time, moves))[-MOST_POINTS:])

    def activity(self, now: int, slots: int, slot: int) -> tuple[int, ...]:
        """Return the number of moves in each of the last ``slots`` periods of ``slot`` milliseconds.

        The last number is for the current period. Periods begin at multiples of their length, so only the last number
        changes until the next period begins. The moves up to the first point have unknown times, unless that point is
        the first move itself.
        """
        first = now // slot - slots + 1
        counts = [0] * slots
        known = ((0, 0), *self.points) if self.points and self.points[0][1] == 1 else self.points
        for (time, moves), (_, before) in pairwise(reversed(known)):
            index = time // slot - first
            if index < 0:
                break
            if index < slots:
                counts[index] += max(moves - before, 0)
        return tuple(counts)

"""How far a player had come at which time: what a sparkline of activity and a plot of cards up are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

MOST_POINTS: Final = 600
"""Points kept of a player; of a longer series older ones are thinned, and those at which a card went up go last."""


class Point(NamedTuple):
    """A player's counts at a time in the server's milliseconds."""

    at: int
    up: int
    moves: int


@dataclass(frozen=True, slots=True)
class Series:
    """A player's counts over time, in order of time."""

    points: tuple[Point, ...] = ()

    def add(self, point: Point) -> Series:
        """The series with one more point; the same one where it tells nothing newer."""
        if self.points and (point.at < self.points[-1].at or point[1:] == self.points[-1][1:]):
            return self
        kept = self.points[:-1] if self.points and self.points[-1].at == point.at else self.points
        points = (*kept, point)
        return Series(points if len(points) <= MOST_POINTS else _thinned(points))

    def activity(self, now: int, slots: int, slot: int) -> tuple[int, ...]:
        """The moves made in each of the last ``slots`` slots of ``slot`` milliseconds, the last of which is under way.

        Slots begin at multiples of their length, so that only the last one changes until the next begins.
        """
        first = now // slot - slots + 1
        made = [0] * slots
        points = self.points
        for at in range(len(points) - 1, -1, -1):
            place = points[at].at // slot - first
            if place < 0:
                break
            moves = points[at].moves
            # How many a series began with can't be told by time, but for the first one.
            before = points[at - 1].moves if at else 0 if moves <= 1 else moves
            if place < slots and moves > before:
                made[place] += moves - before
        return tuple(made)

    def cards_up(self, start: int) -> tuple[tuple[int, int], ...]:
        """Pairs of milliseconds since a time and the cards up from then on."""
        return tuple((max(point.at - start, 0), point.up) for point in self.points)


def _thinned(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """About half of the older half, and all of the newer one; a point that a card went up at is kept where possible."""
    half = len(points) // 2
    older, newer = points[:half], points[half:]
    rose = [True, *(after.up != before.up for before, after in pairwise(older))]
    if sum(rose) > half // 2:
        return (*older[::2], *newer)
    return (*(point for point, kept in zip(older, rose, strict=True) if kept), *newer)

"""How far a player had come at which time: what a sparkline of activity and a plot of cards up are drawn from."""

from __future__ import annotations

from collections.abc import Iterable
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
        for before, after in pairwise(_from_zero(self.points)):
            at = after.at // slot - first
            if 0 <= at < slots:
                made[at] += max(after.moves - before.moves, 0)
        return tuple(made)

    def cards_up(self, start: int) -> tuple[tuple[int, int], ...]:
        """Pairs of milliseconds since a time and the cards up from then on."""
        return tuple((max(point.at - start, 0), point.up) for point in self.points)


def _from_zero(points: tuple[Point, ...]) -> Iterable[Point]:
    """The points after one at which nothing had been done; how many moves a series began with can't be told by time."""
    if points and points[0].moves <= 1:
        return (Point(points[0].at, 0, 0), *points)
    return points


def _thinned(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """About half of the older half, and all of the newer one; a point that a card went up at is kept where possible."""
    half = len(points) // 2
    older, newer = points[:half], points[half:]
    rose = [True, *(after.up != before.up for before, after in pairwise(older))]
    if sum(rose) > half // 2:
        return (*older[::2], *newer)
    return (*(point for point, kept in zip(older, rose, strict=True) if kept), *newer)

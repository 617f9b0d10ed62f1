"""How far a player had come at which time: what a sparkline of activity and a plot of cards up are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from samedeal.errors import SamedealError
from samedeal.record import Record

MOST_POINTS: Final = 600
"""Points kept of a player; of a longer series older ones are thinned, and those at which a card went up go last."""


class Point(NamedTuple):
    """A player's counts at a time in the server's milliseconds."""

    at: int
    up: int
    moves: int


@dataclass(frozen=True, slots=True)
class Series:
    """A player's counts over time, in order of time; ``missed`` are stretches of time of which they are not known."""

    points: tuple[Point, ...] = ()
    missed: tuple[tuple[int, int], ...] = ()

    def add(self, point: Point) -> Series:
        """The series with one more point; the same one where it tells nothing newer."""
        if self.points and (point.at < self.points[-1].at or point[1:] == self.points[-1][1:]):
            return self
        kept = self.points[:-1] if self.points and self.points[-1].at == point.at else self.points
        return Series(_bounded((*kept, point)), self.missed)

    def resume(self, point: Point, risen: int) -> Series:
        """The series with the point that was found after one was away; ``risen`` is when its cards up were reached.

        How it came to several cards more is not known, but for when the last of them went up.
        """
        last = self.points[-1] if self.points else Point(0, 0, 0)
        if abs(point.up - last.up) <= 1:
            return self.add(point)
        found = point._replace(at=max(risen, last.at + 1))
        return Series(_bounded((*self.points, found)), (*self.missed, (last.at, found.at))[-MOST_POINTS:])

    def activity(self, now: int, slots: int, slot: int) -> tuple[int, ...]:
        """The moves made in each of the last ``slots`` slots of ``slot`` milliseconds, the last of which is under way.

        Slots begin at multiples of their length, so that only the last one changes until the next begins.
        """
        first = now // slot - slots + 1
        made = [0] * slots
        points = self.points
        resumed = {end for _, end in self.missed}
        for at in range(len(points) - 1, -1, -1):
            place = points[at].at // slot - first
            if place < 0:
                break
            moves = points[at].moves
            # How many a series began with can't be told by time, but for the first one.
            before = points[at - 1].moves if at else 0 if moves <= 1 else moves
            if place < slots and moves > before and points[at].at not in resumed:
                made[place] += moves - before
        return tuple(made)

    def missed_since(self, start: int) -> tuple[tuple[int, int], ...]:
        """The stretches that are not known, in milliseconds since a time."""
        return tuple((max(begin - start, 0), max(end - start, 0)) for begin, end in self.missed)

    def cards_up(self, start: int) -> tuple[tuple[int, int], ...]:
        """Pairs of milliseconds since a time and the cards up from then on."""
        return tuple((max(point.at - start, 0), point.up) for point in self.points)


def climb(record: Record) -> tuple[tuple[int, int], ...]:
    """Pairs of milliseconds since the start and the cards up from then on, of a whole play; none of one that can't be."""
    play = record.start()
    pairs = []
    for at, action in record.actions:
        try:
            play = play.act(action)
        except SamedealError:
            return ()
        pairs.append((at, play.board.cards_up))
    return tuple(pairs)


def _bounded(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return points if len(points) <= MOST_POINTS else _thinned(points)


def _thinned(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """About half of the older half, and all of the newer one; a point that a card went up at is kept where possible."""
    half = len(points) // 2
    older, newer = points[:half], points[half:]
    rose = [True, *(after.up != before.up for before, after in pairwise(older))]
    if sum(rose) > half // 2:
        return (*older[::2], *newer)
    return (*(point for point, kept in zip(older, rose, strict=True) if kept), *newer)

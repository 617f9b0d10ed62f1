"""Each player's foundation cards and moves over time, for plots and for sorting players by their pace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from samedeal.board_history import Play
from samedeal.errors import SamedealError
from samedeal.protocol.messages import Tally
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.room_state import tally_of
from samedeal.record import Record

MAX_POINTS: Final = 600
"""Maximum number of points per player. If there are more, every second point of the older half is dropped."""


class ProgressPoint(NamedTuple):
    """A player's numbers of foundation cards and of moves at ``time``, which is in milliseconds since 1970."""

    time: int
    foundation_cards: int
    moves: int


@dataclass(frozen=True, slots=True)
class ProgressHistory:
    """A player's numbers of foundation cards and moves, in order of time.

    ``missed`` has the intervals in which the numbers are unknown. Their times are in milliseconds since 1970.
    """

    points: tuple[ProgressPoint, ...] = ()
    missed: tuple[tuple[int, int], ...] = ()

    def add(self, point: ProgressPoint) -> ProgressHistory:
        """Return the history with one more point. An older point, or a point with unchanged counts, changes nothing."""
        if self.points and (point.time < self.points[-1].time or point[1:] == self.points[-1][1:]):
            return self
        kept = self.points[:-1] if self.points and self.points[-1].time == point.time else self.points
        return ProgressHistory(_bounded((*kept, point)), self.missed)

    def resume(self, point: ProgressPoint, last_progress_at: int) -> ProgressHistory:
        """Return the history with ``point``, the first after a time in which the client may have missed points.

        An older point changes nothing. If the number of foundation cards has changed by more than one since the point
        before, add an interval to ``missed``. It ends at ``last_progress_at``, from which on the new number is known.
        """
        last = self.points[-1] if self.points else ProgressPoint(0, 0, 0)
        if point.time <= last.time or abs(point.foundation_cards - last.foundation_cards) <= 1:
            return self.add(point)
        resumed = point._replace(time=max(last_progress_at, last.time + 1))
        missed = (*self.missed, (last.time, resumed.time))[-MAX_POINTS:]
        return ProgressHistory(_bounded((*self.points, resumed)), missed)

    def activity(self, now: int, slots: int, slot: int) -> tuple[int, ...]:
        """Return the number of moves in each of the last ``slots`` periods of ``slot`` milliseconds.

        The last number is for the current period. Periods begin at multiples of their length, so only the last number
        changes until the next period begins.
        """
        first = now // slot - slots + 1
        counts = [0] * slots
        points = self.points
        resumed = {end for _, end in self.missed}
        for number in range(len(points) - 1, -1, -1):
            index = points[number].time // slot - first
            if index < 0:
                break
            moves = points[number].moves
            # The moves up to the first point have unknown times, unless that point is the first move itself.
            before = points[number - 1].moves if number else 0 if moves <= 1 else moves
            if index < slots and moves > before and points[number].time not in resumed:
                counts[index] += moves - before
        return tuple(counts)

    def missed_since(self, start: int) -> tuple[tuple[int, int], ...]:
        """Return the missed intervals. Their starts and ends are in milliseconds since ``start``."""
        return tuple((max(begin - start, 0), max(end - start, 0)) for begin, end in self.missed)

    def foundation_cards(self, start: int) -> tuple[tuple[int, int], ...]:
        """Return the progress as pairs.

        A pair is a time, in milliseconds since ``start``, and the number of foundation cards from then on.
        """
        return tuple((max(point.time - start, 0), point.foundation_cards) for point in self.points)


Histories: TypeAlias = Mapping[str, ProgressHistory]
"""Histories by player."""


def tally_after(tally: Tally, play: Play, time: int) -> Tally:
    """Return a player's counts after an action at ``time`` that led to ``play``."""
    cards, won = play.board.foundation_cards, play.board.won
    moved = MoveCommitted(
        tally.player, play.revision, "", play.seen, cards, play.moves, play.undos, finished=won, no_moves_left=False
    )
    before = Progress(foundation_cards=tally.foundation_cards, last_progress_at=tally.last_progress_at)
    return tally_of(tally.player, before.after(moved, time), time)


def with_tallies(histories: Histories, tallies: Iterable[Tally], *, resumed: bool = False) -> Histories:
    """Return the histories with a point for each of the ``tallies``, except for players who have not acted.

    ``resumed`` is true after a gap in the client's knowledge.
    """
    after = dict(histories)
    for tally in tallies:
        if tally.acted_at:
            history = histories.get(tally.player, ProgressHistory())
            point = ProgressPoint(tally.acted_at, tally.foundation_cards, tally.moves)
            progress_at = tally.last_progress_at or tally.acted_at
            after[tally.player] = history.resume(point, progress_at) if resumed else history.add(point)
    return MappingProxyType(after)


def record_progress(record: Record) -> tuple[tuple[int, int], ...]:
    """Return the progress of the first player of a record as pairs.

    A pair is a time, in milliseconds since the start, and the number of foundation cards from then on. Return no pairs
    if the record is invalid.
    """
    play = record.first_play
    pairs = []
    for time, action in record.actions:
        try:
            play = play.act(action)
        except SamedealError:
            return ()
        pairs.append((time, play.board.foundation_cards))
    return tuple(pairs)


def _bounded(points: tuple[ProgressPoint, ...]) -> tuple[ProgressPoint, ...]:
    half = len(points) // 2
    return points if len(points) <= MAX_POINTS else (*points[:half:2], *points[half:])

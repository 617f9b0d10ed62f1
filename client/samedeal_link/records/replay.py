"""A replay of a recorded race: the moment and the boards that are shown, and the speed. Pure."""

from __future__ import annotations

import dataclasses
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

from samedeal.board_history import Play, Undo
from samedeal.moves import Move
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.record import Record, RecordedPlayer
from samedeal_link.records.spectating import PLAYER_KEYS

LINE_STEP: Final = 700
"""Time, in milliseconds, between two moves of a winning line, which is a sequence of moves that the solver has found."""

JUMP: Final = 10_000
"""Time, in milliseconds, by which one key jumps."""

SPEEDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""The speeds of a replay, relative to the speed of the race."""


class Moment(NamedTuple):
    """A moment of a race, with a ``time`` in milliseconds since the start.

    A player may make several actions at the same time. Of a player's actions at ``time``, only those up to the
    revision ``revision`` have been made at this moment. By default all of them have been made.
    """

    time: int
    revision: int = sys.maxsize


START: Final = Moment(0, 0)
"""The moment before all actions."""


@dataclass(frozen=True)
class Track:
    """A player's part of a recorded race.

    ``times`` has the times of the actions, in milliseconds since the start. ``plays`` has the play before the first
    action, then the play after each action.
    """

    player: RecordedPlayer
    times: tuple[int, ...]
    plays: tuple[Play, ...]

    def revision_at(self, moment: Moment) -> int:
        """Return the number of actions up to a moment."""
        earlier, made = bisect_left(self.times, moment.time), bisect_right(self.times, moment.time)
        return min(made, max(earlier, moment.revision))

    @cached_property
    def progress(self) -> tuple[Progress, ...]:
        """The progress before the first action, then after each action. Its times are as in ``times``."""
        found = [Progress(foundation_cards=self.plays[0].board.foundation_cards)]
        for time, play in zip(self.times, self.plays[1:], strict=True):
            found.append(found[-1].after(MoveCommitted.of(self.player.name, "", play), time))
        return tuple(found)


class RecordedRace:
    """A recorded race, ready to be shown at any moment. ``length`` is in milliseconds.

    Raise BadRecord if an action is not allowed.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.tracks = tuple(
            Track(player, tuple(accumulate((time for time, _ in player.actions), max)), tuple(record.plays(player)))
            for player in record.players
        )
        self.lines: tuple[Track, ...] = ()
        self.length = max([record.length, 1, *(time for track in self.tracks for time in track.times)])

    @property
    def shown_tracks(self) -> tuple[Track, ...]:
        """The tracks of the players, then the winning line that ``add_line`` has added, if any."""
        return self.tracks + self.lines

    def add_line(self, track: Track, revision: int, line: Sequence[Move]) -> None:
        """Add a track that repeats ``track`` up to ``revision`` and then makes the winning moves ``line``.

        The track of an earlier winning line is removed.
        """
        plays, times = list(track.plays[: revision + 1]), list(track.times[:revision])
        plays[-1] = dataclasses.replace(plays[-1], undo_rule=Undo.FREE)
        for move in line:
            plays.append(plays[-1].act(move))
            times.append((times[-1] if times else 0) + LINE_STEP)
        name = dataclasses.replace(track.player, name="winning line", bot=False, resigned=False)
        self.lines = (Track(name, tuple(times), tuple(plays)),)
        self.length = max(self.length, times[-1] if times else 0)


@dataclass(frozen=True)
class Replay:
    """The moment and the boards that are shown.

    ``chosen`` has the indexes of the one or two tracks that are shown. If ``everyone`` is true, the boards of all
    players are shown instead.
    """

    moment: Moment = START
    playing: bool = True
    speed: float = 1.0
    chosen: tuple[int, ...] = (0,)
    everyone: bool = False

    @property
    def time(self) -> int:
        """The time of the moment, in milliseconds since the start."""
        return self.moment.time

    def passed(self, millis: float, race: RecordedRace) -> Replay:
        """Return the replay after ``millis`` milliseconds of real time. The replay stops at the end of the race."""
        if not self.playing:
            return self
        time = min(self.time + round(millis * self.speed), race.length)
        return replace(self, moment=Moment(time), playing=time < race.length)

    def at(self, time: int, race: RecordedRace) -> Replay:
        """Return the replay at another time, which is limited to the length of the race."""
        return replace(self, moment=Moment(min(max(time, 0), race.length)))

    def shown(self, race: RecordedRace) -> tuple[int, ...]:
        """Return the indexes of the tracks whose boards are shown."""
        return tuple(range(len(race.tracks))) if self.everyone else self.chosen

    def beside_line(self, number: int, revision: int, race: RecordedRace) -> Replay:
        """Return the replay with the board of the player ``number`` next to the board of the winning line.

        The replay is paused after the first ``revision`` actions of both boards.
        """
        moment = Moment(race.tracks[number].times[revision - 1], revision) if revision else START
        return replace(self, moment=moment, chosen=(number, len(race.tracks)), everyone=False, playing=False)

    def press(self, key: str, race: RecordedRace) -> Replay | None:
        """Return the replay after a key, or None if the key does nothing in a replay."""
        if len(key) == 1 and key in PLAYER_KEYS:
            number = PLAYER_KEYS.index(key)
            return self._showing(number) if number < len(race.tracks) else self
        match key:
            case "space":
                again = self.time >= race.length
                return replace(self, playing=not self.playing, moment=START if again else self.moment)
            case "left" | "right":
                return replace(self, moment=self._next_moment(race, back=key == "left"), playing=False)
            case "pageup" | "pagedown":
                return self.at(self.time + (JUMP if key == "pagedown" else -JUMP), race)
            case "home" | "end":
                return replace(self, moment=START if key == "home" else Moment(race.length), playing=False)
            case "+" | "-":
                speed = SPEEDS.index(self.speed) + (1 if key == "+" else -1)
                return replace(self, speed=SPEEDS[min(max(speed, 0), len(SPEEDS) - 1)])
            case "up" | "down":
                step = 1 if key == "down" else -1
                return self._showing((self.chosen[0] + step) % len(race.tracks))
            case "t":
                return self._beside(race)
            case "0":
                return replace(self, everyone=not self.everyone)
            case _:
                return None

    def _showing(self, number: int) -> Replay:
        """Return the replay with the board of player ``number``. If two boards are shown, it replaces the first one."""
        second = tuple(other for other in self.chosen[1:] if other != number)
        return replace(self, chosen=(number, *second), everyone=False)

    def _beside(self, race: RecordedRace) -> Replay:
        """Return the replay with the next player's board next to the first board.

        If two boards are shown already, return the replay with only the first.
        """
        first = self.chosen[0]
        second = () if len(self.chosen) > 1 and not self.everyone else ((first + 1) % len(race.tracks),)
        return replace(self, chosen=(first, *(other for other in second if other != first)), everyone=False)

    def _next_moment(self, race: RecordedRace, *, back: bool) -> Moment:
        """Return the moment of the next action of the shown players, or the end of the race if there is none.

        If ``back`` is true, return the moment just before the newest action that these players have made so far.
        """
        tracks = [race.shown_tracks[number] for number in self.shown(race)]
        moments = sorted({Moment(time, at) for track in tracks for at, time in enumerate(track.times, 1)})
        passed = bisect_right(moments, self.moment)
        if back:
            return moments[passed - 2] if passed > 1 else START
        return moments[passed] if passed < len(moments) else Moment(race.length)

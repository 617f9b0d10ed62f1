"""The player's past races: results, personal bests and the daily streak. Dates are arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

from samedeal.games import GAMES
from samedeal.protocol.messages import RoomState, Seat, Tally
from samedeal.standings import Result, ranked
from samedeal_link.model.model import Model

VERSION: Final = 1
"""The version of the lines in the history file. It is raised when older clients would misread new lines."""

_Count = Annotated[int, Meta(ge=0, le=10_000)]
_Milliseconds = Annotated[int, Meta(ge=0, le=200_000_000_000_000)]


class Opponent(Struct, frozen=True, omit_defaults=True):
    """Another player of a past race."""

    name: str
    bot: bool = False


class PastRace(Struct, frozen=True, kw_only=True):
    """A race from the view of one player, as a line of the history file.

    ``starts`` is in milliseconds since 1970. ``time`` is the time in milliseconds in which the player finished, or 0.
    ``place`` is 0 if it was not known when the player left. ``cut_off`` is true if the race ended because the client was
    stopped, for example because its window was closed. ``opponents`` are in the order of their places.
    """

    version: int = VERSION
    game: str
    deal: str
    room: str
    starts: _Milliseconds
    name: str
    place: _Count = 0
    players: _Count
    foundation_cards: _Count
    time: _Milliseconds = 0
    resigned: bool = False
    cut_off: bool = False
    opponents: tuple[Opponent, ...] = ()

    @property
    def key(self) -> tuple[str, int, str]:
        """The race and the player. Of two lines of the history file with the same key, the later one counts."""
        return self.room, self.starts, self.name

    @property
    def won(self) -> bool:
        """Whether the player was first in a race against others, without resigning."""
        return self.place == 1 and self.players > 1 and not self.resigned

    @property
    def cards(self) -> int:
        """Number of cards in the game, or 0 if this version does not know the game."""
        return GAMES[self.game].cards if self.game in GAMES else 0

    @property
    def day(self) -> date:
        """The day, in UTC, on which the race started."""
        return datetime.fromtimestamp(self.starts / 1000, UTC).date()

    @property
    def daily(self) -> bool:
        """Whether the deal was the daily deal of the day on which the race started."""
        return self.deal == f"daily {self.day.isoformat()}"

    @property
    def prolongs_streak(self) -> bool:
        """Whether the player finished the daily deal of that day, or brought half of its cards to the foundations."""
        return self.daily and (self.time > 0 or 2 * self.foundation_cards >= self.cards)


class GameSummary(NamedTuple):
    """The player's results in one game. ``best`` is the fastest finish in milliseconds, or 0 if there is none."""

    races: int
    finished: int
    wins: int
    best: int


class Streak(NamedTuple):
    """The current and the longest daily streak.

    A daily streak is a number of successive days, each with a race that prolongs it.
    """

    current: int
    longest: int


@dataclass(frozen=True)
class History:
    """The past races, the oldest first.

    ``damaged`` is the number of lines that could not be read. ``newer`` is the number of lines that a later version of
    Samedeal wrote.
    """

    races: tuple[PastRace, ...] = ()
    damaged: int = 0
    newer: int = 0

    @property
    def latest(self) -> tuple[PastRace, ...]:
        """The races, the latest first."""
        return self.races[::-1]

    def in_game(self, game: str) -> History:
        """Return the history with only the races in ``game``."""
        return History(tuple(race for race in self.races if race.game == game), self.damaged, self.newer)

    def has_played(self, game: str) -> bool:
        """Return whether the player has been in a race in ``game``."""
        return any(race.game == game for race in self.races)

    def daily_race(self, today: date, game: str) -> PastRace | None:
        """Return the player's best race in the game's deal of ``today``, or None if there is none."""
        deal = f"daily {today.isoformat()}"
        races = [race for race in self.races if (race.deal, race.game) == (deal, game)]
        return min(races, key=lambda race: (race.time or 10**15, -race.foundation_cards), default=None)


def best_time(races: Iterable[PastRace], game: str, *, before: int | None = None) -> int | None:
    """Return the fastest finish in a game, in milliseconds, or None if there is none.

    If ``before`` is given, only races that started before this time, in milliseconds since 1970, are considered.
    """
    times = (
        race.time for race in races if race.game == game and race.time and (before is None or race.starts < before)
    )
    return min(times, default=None)


def summaries(races: Sequence[PastRace]) -> dict[str, GameSummary]:
    """Return a summary for each game that has races, in the order of the games."""
    names = dict.fromkeys((*GAMES, *(race.game for race in races)))
    by_game = {name: [race for race in races if race.game == name] for name in names}
    return {name: _summary(name, played) for name, played in by_game.items() if played}


def _summary(name: str, played: list[PastRace]) -> GameSummary:
    finished, wins = (sum(bool(race.time) for race in played), sum(race.won for race in played))
    return GameSummary(len(played), finished, wins, best_time(played, name) or 0)


def daily_streak(races: Iterable[PastRace], today: date) -> Streak:
    """Return the player's current and longest daily streak.

    The current streak is 0 days if neither ``today`` nor the day before has prolonged it.
    """
    days = sorted({race.day for race in races if race.prolongs_streak})
    longest = length = 0
    previous: date | None = None
    for day in days:
        length = length + 1 if previous is not None and day - previous == timedelta(days=1) else 1
        longest, previous = max(longest, length), day
    alive = previous is not None and timedelta() <= today - previous <= timedelta(days=1)
    return Streak(length if alive else 0, longest)


def race_result(model: Model) -> PastRace | None:
    """Return the result of the player's race. Return None for a spectator, and while the player is still racing.

    Before the race is over, a player who has finished gets the present place, and a player who has resigned gets no
    place. A race against the house that the player has left counts as nothing, and so does a race with a window that the
    player has not begun.
    """
    room, seat = model.room, model.seat
    if room is None or model.delay is not None or (seat is not None and seat.resigned and model.meets_only_house):
        return None
    own = model.standing
    if own is not None and not own.place:
        return None
    if own is not None:
        others = sorted(
            (line for line in room.standings if line.place and line is not own), key=lambda line: line.place
        )
        race = _race(model, room, tuple(Opponent(line.name, line.bot) for line in others))
        return replace(
            race, place=own.place, foundation_cards=own.foundation_cards, time=own.time, resigned=own.resigned
        )
    tally = model.tallies.get(model.me)
    if room.phase != "racing" or seat is None or tally is None or not (tally.finished_at or seat.resigned):
        return None
    return _race_so_far(model, room, seat)


def unfinished_race(model: Model, *, cut_off: bool = False) -> PastRace | None:
    """Return the result of the race if the player quits now, or None if no race of the player is under way.

    Also return None if the player has not made a move yet. ``cut_off`` is as in ``PastRace``.
    """
    room, seat, play, tally = model.room, model.seat, model.own.play, model.tallies.get(model.me)
    has_moved = (play is not None and play.moves) or (tally is not None and tally.moves)  # tallies come late
    if room is None or seat is None or room.phase != "racing" or not has_moved:
        return None
    return replace(_race_so_far(model, room, seat), cut_off=cut_off)


def _race_so_far(model: Model, room: RoomState, own: Seat) -> PastRace:
    tallies = [(seat, model.tallies.get(seat.player) or Tally(player=seat.player)) for seat in room.players]
    ranking = ranked(
        ((seat, tally), Result(seat.seat, tally.foundation_cards, tally.finished_at, tally.last_progress_at))
        for seat, tally in tallies
    )
    place, (_, tally) = next(line for line in ranking if line[1][0] is own)
    others = tuple(Opponent(seat.name, seat.bot) for _, (seat, _) in ranking if seat is not own)
    return replace(
        _race(model, room, others),
        place=place if tally.finished_at else 0,
        foundation_cards=tally.foundation_cards,
        time=max(tally.finished_at - model.began_at(own.player), 1) if tally.finished_at else 0,
        resigned=own.resigned,
    )


def _race(model: Model, room: RoomState, opponents: tuple[Opponent, ...]) -> PastRace:
    race: dict[str, Any] = {"game": room.game, "deal": room.deal, "room": room.room, "starts": room.starts}
    return PastRace(**race, name=model.name, players=1 + len(opponents), foundation_cards=0, opponents=opponents)

"""Tides: public races that start at fixed minutes of the day (UTC), each with one table over all its rooms.

In a table, players who finished come first, by their times. The others are ordered by the cards on their foundations, and
those with the same number share a place. The table of a day has the best result of each player in a game. Each line also
has the place among those who had the same cards. Declared bots have places of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from samedeal.errors import MalformedText
from samedeal.games import DEFAULT_GAME
from samedeal.protocol.messages import TideLine, TideTable, TideTime
from samedeal.record import Record

OPEN_FOR: Final = 300_000
"""Time, in milliseconds, before the start of a tide from which it is open: players can take seats."""

DAY: Final = 86_400_000
"""The length of a day, in milliseconds."""

MOST_TIDES: Final = 96
"""Maximum number of tides on a day."""

_MINUTE: Final = 60_000
_TOP: Final = 10
_AROUND: Final = 3
"""Number of lines above and below a player's own that the player is shown. ``_TOP`` lines are shown to everybody."""

_TIME: Final = re.compile(r"([01][0-9]|2[0-3]|\*):([0-5][0-9]) ([A-Za-z0-9-]{1,24})")


def tide_times(entries: Iterable[str]) -> tuple[TideTime, ...]:
    """Return the tides of a day from entries such as ``19:30 willow``, or ``*:15 spider`` for every hour.

    Raise MalformedText if an entry has another form, if there are two at one minute, or if there are too many.
    """
    times: dict[int, TideTime] = {}
    for entry in entries:
        found = _TIME.fullmatch(" ".join(entry.split()))
        if found is None:
            raise MalformedText(
                f"{entry!r} is not a time and a game. Write them as in '19:30 {DEFAULT_GAME}', "
                f"or '*:15 {DEFAULT_GAME}' for every hour."
            )
        hour, minute, game = found.groups()
        for each in range(24) if hour == "*" else (int(hour),):
            time = TideTime(minute=60 * each + int(minute), game=game.lower())
            if time.minute in times:
                raise MalformedText(f"Two tides start at {each:02}:{minute}. Choose another minute for {entry!r}.")
            times[time.minute] = time
    if len(times) > MOST_TIDES:
        raise MalformedText(f"There are {len(times)} tides on a day. Write at most {MOST_TIDES}.")
    return tuple(times[minute] for minute in sorted(times))


def next_tides(times: Sequence[TideTime], now: int) -> Iterator[tuple[int, str]]:
    """Yield the starts and the games of the tides after the time ``now``, the next one first, for two days."""
    for day in (now - now % DAY, now - now % DAY + DAY):
        for time in sorted(times, key=lambda time: time.minute):
            if (start := day + _MINUTE * time.minute) > now:
                yield start, time.game


def has_tide(times: Iterable[TideTime], game: str, start: int) -> bool:
    """Return whether a tide in ``game`` starts at the time ``start``."""
    return any((start % DAY, game) == (_MINUTE * time.minute, time.game) for time in times)


def day_of(time: int) -> range:
    """Return the times of the day of a time."""
    return range(first := time - time % DAY, first + DAY)


def ordered(results: Iterable[TideLine]) -> tuple[TideLine, ...]:
    """Return a table with the best result of each player: first people, then bots, with their places."""
    best: dict[str, TideLine] = {}
    for line in sorted(results, key=_rank, reverse=True):
        best[line.player] = line
    table: list[TideLine] = []
    for is_bot in (False, True):
        lines = sorted(
            (line for line in best.values() if line.bot is is_bot), key=lambda line: (_rank(line), line.player)
        )
        places: dict[tuple[str, tuple[int, int]], int] = {}
        of_deals = Counter[str]()
        for number, line in enumerate(lines, 1):
            of_deals[line.deal] += 1
            place = places.setdefault(("of all", _rank(line)), number)
            deal_place = places.setdefault((line.deal, _rank(line)), of_deals[line.deal])
            table.append(replace(line, place=place, deal_place=deal_place))
    return tuple(table)


def shown_to(table: Sequence[TideLine], player: str) -> list[TideLine]:
    """Return the lines that a player is shown: of people and of bots, the first ones and those around the player's own."""
    lines: list[TideLine] = []
    for is_bot in (False, True):
        part = [line for line in table if line.bot is is_bot]
        own = next((at for at, line in enumerate(part) if line.player == player), -_AROUND - 1)
        lines += (line for at, line in enumerate(part) if at < _TOP or abs(at - own) <= _AROUND)
    return lines


def merged(before: TideTable | None, update: TideTable) -> TideTable:
    """Return a table after an update, with all lines that are shown."""
    known = {line.player: line for line in (*(before.lines if before else ()), *update.lines)}
    return replace(update, lines=tuple(known[player] for player in update.shown if player in known))


def results_of(record: Record, players: Sequence[str]) -> tuple[TideLine, ...]:
    """Return the results in a record of a race. ``players`` are the ids of its players, in the order of their seats."""
    return tuple(
        TideLine(
            player=id_,
            name=player.name,
            room=record.terms.room,
            foundation_cards=player.foundation_cards,
            time=player.finish_time,
            deal=min(room.room for room in record.proof.rooms) if record.proof else record.terms.room,
            bot=player.bot,
        )
        for id_, player in zip(players, record.players, strict=True)
    )


def _rank(line: TideLine) -> tuple[int, int]:
    return (0, line.time) if line.time else (1, -line.foundation_cards)

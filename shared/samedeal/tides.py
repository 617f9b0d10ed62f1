"""Tides: public races that start at fixed minutes of the day (UTC), each in one room with many seats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from samedeal.errors import MalformedText
from samedeal.games import DEFAULT_GAME
from samedeal.protocol.messages import TideTime

OPEN_FOR: Final = 300_000
"""Time, in milliseconds, before the start of a tide from which it is open: players can take seats."""

DAY: Final = 86_400_000
"""The length of a day, in milliseconds."""

MOST_TIDES: Final = 96
"""Maximum number of tides on a day."""

_MINUTE: Final = 60_000
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

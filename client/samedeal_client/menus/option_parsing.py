"""Parsing of room options.

For an invalid text, the ``read_`` functions raise ValueError with a message that says what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.errors import SamedealError
from samedeal.games import GAMES
from samedeal.names import clean_room
from samedeal.options import LONGEST_WINDOW, SHORTEST_WINDOW

MAX_NEXT_GAMES: Final = 15
_MAX_DELAY_OF_START: Final = timedelta(days=7)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "day")


def number_in(low: int, high: int) -> Callable[[str], int]:
    """Return a function that reads a whole number from ``low`` to ``high``. It raises ValueError for other texts."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise ValueError(f"Write a number from {low} to {high}.")
        return int(text)

    return read


def read_duration(text: str) -> int:
    """Return the number of seconds of a duration such as ``15`` (minutes), ``7:30``, ``1:30:00`` or ``90 s``."""
    written = text.strip().lower()
    if (minutes := re.fullmatch(r"(\d{1,5})(?: ?min)?", written)) is not None:
        seconds = 60 * int(minutes[1])
    elif (clock := re.fullmatch(r"(?:(\d):)?(\d{1,3}):([0-5]\d)", written)) is not None:
        seconds = 3600 * int(clock[1] or 0) + 60 * int(clock[2]) + int(clock[3])
    elif (short := re.fullmatch(r"(\d{1,5}) ?s", written)) is not None:
        seconds = int(short[1])
    else:
        raise ValueError("Use a time like 15 min, 7:30 or 90 s.")
    if not 10 <= seconds <= 7200:
        meant = f"{written} means {written} min. " if written.isdigit() else ""
        raise ValueError(f"{meant}Write a time from 10 s to 2 hours.")
    return seconds


def read_window(text: str) -> int:
    """Return the number of seconds of a window, such as ``36h`` or ``2d``. An empty text means 0: no window."""
    if not text:
        return 0
    written = re.fullmatch(r"(\d{1,3}) ?([hd])", text.strip().lower())
    seconds = int(written[1]) * {"h": 3_600, "d": 86_400}[written[2]] if written else 0
    if not SHORTEST_WINDOW <= seconds <= LONGEST_WINDOW:
        raise ValueError("Write a time from 1h to 72h, or from 1d to 3d.")
    return seconds


def read_every(text: str, races: int, now: datetime, zone: tzinfo | None = None) -> tuple[int, ...]:
    """Return the next times of a rule such as ``day 18:00`` or ``fri 18:00``, in milliseconds since 1970.

    The rule is about the clocks in the time zone ``zone``, by default the local one, also when summer time begins or ends.
    """
    written = re.fullmatch(r"(day|[a-z]{3,9}) +(\d{1,2}):([0-5]\d)", text.strip().lower())
    days = [day for day in _DAYS if written and day.startswith(written[1]) and len(written[1]) > 2]
    if written is None or not days or int(written[2]) > 23:
        raise ValueError("Write day or a weekday, and a time, such as day 18:00 or fri 18:00.")
    step = 1 if days[0] == "day" else 7
    first = now.astimezone(zone).replace(hour=int(written[2]), minute=int(written[3]), second=0, microsecond=0)
    first += timedelta(days=(_DAYS.index(days[0]) - first.weekday()) % step)
    at = (first.replace(tzinfo=zone) + timedelta(days=step * each) for each in range(races + 1))
    times = [round(each.timestamp() * 1000) for each in at]
    return tuple(each for each in times if each > now.timestamp() * 1000)[:races]


def read_start(text: str, now: datetime) -> int:
    """Return a start time, in milliseconds since 1970.

    The text is a time such as ``20:30`` or ``2026-11-21 20:30``, in the time zone of ``now``, or a number of minutes
    from now, such as ``+10``.
    """
    try:
        start = _read_time(text.strip(), now)
    except (ValueError, OverflowError):
        start = None
    if start is None:
        raise ValueError("Write a time such as 20:30, 2026-11-21 20:30 or +10 min.")
    if not now < start <= now + _MAX_DELAY_OF_START:
        raise ValueError("Write a time within the next seven days.")
    return round(start.timestamp() * 1000)


def _read_time(text: str, now: datetime) -> datetime | None:
    """Return the time that a text names, or None if the text does not have the form of a time.

    Raise ValueError for a time that does not exist, such as ``25:00``.
    """
    if (later := re.fullmatch(r"\+(\d{1,5})(?: ?min)?", text)) is not None:
        return now + timedelta(minutes=int(later[1]))
    matched = re.fullmatch(r"(?:(\d{4})-(\d{1,2})-(\d{1,2}) +)?(\d{1,2}):(\d{2})", text)
    if matched is None:
        return None
    time = now.replace(hour=int(matched[4]), minute=int(matched[5]), second=0, microsecond=0)
    if matched[1]:
        return time.replace(year=int(matched[1]), month=int(matched[2]), day=int(matched[3]))
    return time if time > now else time + timedelta(days=1)


def read_games(text: str) -> tuple[str, ...]:
    """Return the names of the games in a text. Blanks or commas separate the names."""
    known = text.lower()
    for game in GAMES.values():
        known = known.replace(game.title.lower(), game.name)
    names = tuple(re.findall(r"[^\s,]+", known))
    for name in names:
        if name not in GAMES:
            raise ValueError(f"{name[:12]!r} is not a game. Choose from {', '.join(GAMES)}.")
    if len(names) > MAX_NEXT_GAMES:
        raise ValueError(f"Write at most {MAX_NEXT_GAMES} games.")
    return names


def read_deal(text: str) -> str:
    """Return the text of a deal in its standard form."""
    try:
        return str(Deal.parse(text))
    except SamedealError:
        raise ValueError(
            "Write winnable, winnable easy (or medium or hard), random, daily, or a number such as #4821."
        ) from None


def read_room(text: str) -> str:
    """Return a room code in its normal form. An empty text stays empty."""
    try:
        return clean_room(text) if text.strip() else ""
    except SamedealError:
        raise ValueError("Use letters, digits and dashes, with no dash at either end.") from None

"""Times and durations as text."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from samedeal_link.machine.terminal import terminal


def clock_text(ms: int) -> str:
    """Return the time of a running clock, given in ms, as ``02:47`` or ``1:02:47``, rounded down, and at least ``00:00``."""
    seconds = max(ms, 0) // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes:02}:{seconds % 60:02}"


def short_clock_text(ms: int) -> str:
    """Return a time in milliseconds as in sentences and results: ``0:23``, ``5:52`` or ``1:02:47``, rounded down."""
    return clock_text(ms).removeprefix("0")


def ordinal(number: int) -> str:
    """Return a place as ``1st``, ``2nd``, ``3rd``, ``4th``."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def duration_text(seconds: int) -> str:
    """Return a length of time as ``45 s``, ``15 min``, ``7 min 30 s`` or ``1 h 30 min``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min"), (rest, "s")) if number]
    return " ".join(parts) or "0 s"


def weekday_and_time(milliseconds: int, zone: tzinfo | None = None, *, dated: bool = False) -> str:
    """Return a time, given in milliseconds since 1970, as ``Sunday 18:00``, or as ``Sunday 6 Dec 18:00`` if it is ``dated``.

    A time that may be more than six days away needs its date. ``zone`` is as below.
    """
    return _local_text(milliseconds, zone, "%A %-d %b %H:%M" if dated else "%A %H:%M")


def day_and_time(milliseconds: int, zone: tzinfo | None = None) -> str:
    """Return a time, given in milliseconds since 1970, as ``6 Dec 18:00``. ``zone`` is as below."""
    return _local_text(milliseconds, zone, "%-d %b %H:%M")


def day_text(milliseconds: int, now: int) -> str:
    """Return the day of a time in UTC, in which deals of the day begin: ``today``, ``yesterday`` or ``3 Nov``."""
    day, today = (datetime.fromtimestamp(time / 1000, UTC).date() for time in (milliseconds, now))
    return {0: "today", 1: "yesterday"}.get((today - day).days) or f"{day.day} {day:%b}"


def date_and_time(milliseconds: int, zone: tzinfo | None = None) -> str:
    """Return a time, given in milliseconds since 1970, with its date.

    The text is in the time zone ``zone``, by default that of this machine.
    """
    return _local_text(milliseconds, zone, "%H:%M on %Y-%m-%d")


def local_time(milliseconds: int, zone: tzinfo | None) -> datetime:
    """Return a time, given in milliseconds since 1970, in a time zone, or in that of this machine."""
    return datetime.fromtimestamp(milliseconds / 1000, zone).astimezone(zone)


def _local_text(milliseconds: int, zone: tzinfo | None, form: str) -> str:
    """Return a time in a format of ``strftime``, with the name of the zone if that may not be the user's."""
    return local_time(milliseconds, zone).strftime(form if terminal().owns_process else f"{form} %Z")

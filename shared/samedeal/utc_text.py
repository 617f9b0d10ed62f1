"""Times in UTC as text, such as ``2026-11-22T14:05:43.123Z``, and dates.

Only this module of ``samedeal`` imports ``datetime``, for its calendar. It never reads the clock.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from samedeal.errors import MalformedText

LAST: Final = 253_402_300_799_999
"""The last time that can be written as text: the end of the year 9999, in milliseconds since 1970."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_DATE: Final = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")


def utc_text(time: int) -> str:
    """Return the text for a time in milliseconds since 1970. The time must be between 0 and ``LAST``."""
    return (_EPOCH + time * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_utc(text: str) -> int:
    """Return the time, in milliseconds since 1970, for a text that ``utc_text`` has written.

    Raise MalformedText for any other text.
    """
    try:
        time = (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
        if time >= 0 and utc_text(time) == text:
            return time
    except (ValueError, TypeError):  # TypeError if it has no time zone
        pass
    raise MalformedText(f"{text[:40]!r} is not a time. Write it in UTC, as in 2026-11-22T14:05:43.123Z.")


def is_date(text: str) -> bool:
    """Return whether a text is a valid date in the form ``YYYY-MM-DD``."""
    try:
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False

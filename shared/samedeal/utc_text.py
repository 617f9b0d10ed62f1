"""Times in UTC as text, such as ``2026-11-22T14:05:43.123Z``.

The package ``samedeal`` may not import ``datetime``, which reads a clock.
"""

from __future__ import annotations

import re
from typing import Final

from samedeal.errors import MalformedText

LAST: Final = 253_402_300_799_999
"""The last time that can be written as text: the end of the year 9999, in milliseconds since 1970."""

_DAY: Final = 86_400_000
_TEXT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z", re.ASCII)
_DAYS_BEFORE_1970: Final = 719_468
"""Days from 1 March of the year 0 to 1 January 1970."""


def utc_text(time: int) -> str:
    """Return the text for a time in milliseconds since 1970. The time must be between 0 and ``LAST``."""
    day, millis = divmod(time, _DAY)
    # Years begin in March here, so that a leap day is the last day of a year. An era has 400 years.
    era, day_of_era = divmod(day + _DAYS_BEFORE_1970, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = 400 * era + year_of_era + (month <= 2)
    date = f"{year:04}-{month:02}-{day_of_year - (153 * month_from_march + 2) // 5 + 1:02}"
    seconds, millis = divmod(millis, 1000)
    return f"{date}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}Z"


def parse_utc(text: str) -> int:
    """Return the time, in milliseconds since 1970, for a text that ``utc_text`` has written.

    Raise MalformedText for any other text.
    """
    match = _TEXT.fullmatch(text)
    if match is not None:
        year, month, day, hour, minute, second, millis = map(int, match.groups())
        march_year, month_from_march = (year, month - 3) if month > 2 else (year - 1, month + 9)
        days = 365 * march_year + march_year // 4 - march_year // 100 + march_year // 400
        days += (153 * month_from_march + 2) // 5 + day - 1 - _DAYS_BEFORE_1970
        time = ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millis
        if 0 <= time <= LAST and utc_text(time) == text:
            return time
    raise MalformedText(f"{text[:40]!r} is not a time. Write it in UTC, as in 2026-11-22T14:05:43.123Z.")

"""Tides: when they start."""

from __future__ import annotations

from samedeal.tides import DAY, has_tide, next_tides, tide_times
from tests.golden.golden_files import assert_answers

DAY_BEGINS = 20_000 * DAY


def entries(text: str) -> str:
    times = tide_times([] if text == "none" else text.split(", "))
    return ", ".join(f"{time.minute} {time.game}" for time in times)


def next_ones(minute: str) -> str:
    times = tide_times(["00:02 a", "00:01 b"])
    found = list(next_tides(times, DAY_BEGINS + 60_000 * int(minute)))
    assert all(has_tide(times, game, start) for start, game in found)
    assert not has_tide(times, "a", found[0][0] + 1)
    return ", ".join(f"{(start - DAY_BEGINS) // 60_000} {game}" for start, game in found)


def test_tides_are_as_the_page_says() -> None:
    readers = {"Entries": entries, "The": next_ones}
    assert_answers("tides", lambda heading, question: readers[heading.split()[0].strip(",")](question))

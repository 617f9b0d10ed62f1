"""Tides: when they start, and the order of the players in their tables."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import TideLine, TideTable
from samedeal.tides import DAY, has_tide, merged, next_tides, ordered, shown_to, tide_times

DAY_BEGINS = 20_000 * DAY


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], ""),
        (["12:00 willow"], "720 willow"),
        (["20:05 Spider", " 12:00  willow "], "720 willow, 1205 spider"),
        (["*:30 willow"], ", ".join(f"{60 * hour + 30} willow" for hour in range(24))),
    ],
)
def test_entries_are_minutes_of_the_day(entries: list[str], expected: str) -> None:
    assert ", ".join(f"{time.minute} {time.game}" for time in tide_times(entries)) == expected


@pytest.mark.parametrize(
    ("minute", "expected"),
    [(0, "1 b, 2 a, 1441 b, 1442 a"), (1, "2 a, 1441 b, 1442 a"), (1439, "1441 b, 1442 a"), (2, "1441 b, 1442 a")],
)
def test_next_tides_come_in_order(minute: int, expected: str) -> None:
    times = tide_times(["00:02 a", "00:01 b"])
    now = DAY_BEGINS + 60_000 * minute
    found = list(next_tides(times, now))
    assert ", ".join(f"{(start - DAY_BEGINS) // 60_000} {game}" for start, game in found) == expected
    assert all(has_tide(times, game, start) for start, game in found)
    assert not has_tide(times, "a", found[0][0] + 1)


def line(text: str, room: str = "r1") -> TideLine:
    """A line from a name, cards and perhaps a time. The name of a bot begins with a star."""
    name, cards, *time = text.split()
    number = int(time[0]) if time else 0
    return TideLine(
        player=name, name=name, room=room, foundation_cards=int(cards), time=number, bot=name.startswith("*")
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a 5", "b 52 900", "c 7", "d 52 800"], "1d 2b 3c 4a"),
        (["a 5", "b 7", "c 7", "d 5", "e 4"], "1b 1c 3a 3d 5e"),
        (["a 52 800", "b 52 800", "c 0"], "1a 1b 3c"),
        (["*x 52 1", "a 0", "*y 3"], "1a 1*x 2*y"),
        (["a 5", "a 52 900", "a 52 950", "b 6"], "1a 2b"),  # of several races, the best one counts
        ([], ""),
    ],
)
def test_table_has_finished_players_first_and_each_once(lines: list[str], expected: str) -> None:
    assert " ".join(f"{each.place}{each.name}" for each in ordered(map(line, lines))) == expected


@pytest.mark.parametrize(
    ("player", "expected"),
    [
        ("p0", range(10)),
        ("p10", range(14)),
        ("p30", [*range(10), *range(27, 34)]),
        ("p49", [*range(10), *range(46, 50)]),
    ],
)
def test_player_is_shown_the_lines_around_their_own(player: str, expected: list[int]) -> None:
    table = ordered(line(f"p{number} {50 - number}") for number in range(50))
    bots = ordered([line("*x 3")])
    assert [each.name for each in shown_to((*table, *bots), player)] == [*(f"p{each}" for each in expected), "*x"]


def test_updates_are_merged() -> None:
    def update(shown: str, *lines: str) -> TideTable:
        new = tuple(map(line, lines))
        return TideTable(game="willow", tide=1, day=False, people=3, bots=0, shown=tuple(shown.split()), lines=new)

    table = merged(None, update("a b", "b 5", "a 6"))
    table = merged(table, update("b a", "b 7"))
    assert [(each.name, each.foundation_cards) for each in table.lines] == [("b", 7), ("a", 6)]
    assert [each.name for each in merged(table, update("a c", "c 1")).lines] == ["a", "c"]

"""Tides: when they start, and the order of the players in their tables."""

from __future__ import annotations

from samedeal.protocol.messages import TideLine, TideTable
from samedeal.tides import DAY, has_tide, merged, next_tides, ordered, shown_to, tide_times
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


def line(text: str, room: str = "r1") -> TideLine:
    """A line from a name, cards and perhaps a time. The name of a bot begins with a star."""
    name, cards, *time = text.split()
    number = int(time[0]) if time else 0
    return TideLine(
        player=name, name=name, room=room, foundation_cards=int(cards), time=number, bot=name.startswith("*")
    )


def table(text: str) -> str:
    lines = [] if text == "nobody" else text.split(", ")
    return " ".join(f"{each.place}{each.name}" for each in ordered(map(line, lines)))


def shown(player: str) -> str:
    all_lines = (*ordered(line(f"p{number} {50 - number}") for number in range(50)), *ordered([line("*x 3")]))
    return " ".join(each.name for each in shown_to(all_lines, player))


def test_tides_are_as_the_page_says() -> None:
    readers = {"Entries": entries, "The": next_ones, "Tables": table, "Who": shown}
    assert_answers("tides", lambda heading, question: readers[heading.split()[0].strip(",")](question))


def test_updates_are_merged() -> None:
    def update(shown: str, *lines: str) -> TideTable:
        new = tuple(map(line, lines))
        return TideTable(game="willow", tide=1, day=False, people=3, bots=0, shown=tuple(shown.split()), lines=new)

    table = merged(None, update("a b", "b 5", "a 6"))
    table = merged(table, update("b a", "b 7"))
    assert [(each.name, each.foundation_cards) for each in table.lines] == [("b", 7), ("a", 6)]
    assert [each.name for each in merged(table, update("a c", "c 1")).lines] == ["a", "c"]

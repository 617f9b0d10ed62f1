"""The table of a series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.protocol.messages import Standing, TableLine
from samedeal.series import with_race
from tests.golden.golden_files import assert_answers


def standing(place: int, name: str, time: int = 0) -> Standing:
    return Standing(place=place, player=name, name=name, foundation_cards=0, time=time, moves=0, undos=0)


def table(_: str, question: str) -> str:
    """The table of races of 10 s. Each has the number of its finishes, and its players from the first place on."""
    lines: tuple[TableLine, ...] = ()
    for number, race in enumerate(question.split(", ")):
        finishes, *words = race.split()
        standings, place = [], 0
        for at, word in enumerate(words, 1):
            place = place if word.startswith("=") else at
            standings.append(standing(place, word.strip("="), at * 1000 if at <= int(finishes) else 0))
        lines = with_race(lines, standings, 10_000 + number)
    return ", ".join(f"{line.place} {line.name} {line.points:g} of {line.races} in {line.time}" for line in lines)


def test_tables_are_as_the_page_says() -> None:
    assert_answers("series", table)


def test_players_who_are_equal_in_all_are_in_the_order_of_their_names() -> None:
    """Records know players only by their names."""
    tied = [replace(standing(1, name), player=player) for player, name in [("1", "bo"), ("2", "ana")]]
    assert [line.name for line in with_race((), tied, 10_000)] == ["ana", "bo"]


@given(st.lists(st.permutations("abcdef"), max_size=5))
def test_each_pair_of_players_shares_one_point(races: list[list[str]]) -> None:
    lines: tuple[TableLine, ...] = ()
    for race in races:
        lines = with_race(lines, [standing(at, name) for at, name in enumerate(race, 1)], 1)
    assert sum(line.points for line in lines) == 15 * len(races)
    assert [line.place for line in lines] == sorted(line.place for line in lines)

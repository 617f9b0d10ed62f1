"""The table of a series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.protocol.messages import Standing, TableLine
from samedeal.series import with_race


def standing(place: int, name: str, time: int = 0) -> Standing:
    return Standing(place=place, player=name, name=name, foundation_cards=0, time=time, moves=0, undos=0)


def table(*races: tuple[int, str]) -> list[str]:
    """Return the table of races of 10 s. Each is given as its players from the first place on, where ``=`` is a tie."""
    lines: tuple[TableLine, ...] = ()
    for number, (finishes, text) in enumerate(races):
        standings, place = [], 0
        for at, word in enumerate(text.split(), 1):
            place = place if word.startswith("=") else at
            standings.append(standing(place, word.strip("="), at * 1000 if at <= finishes else 0))
        lines = with_race(lines, standings, 10_000 + number)
    return [f"{line.place} {line.name} {line.points:g} of {line.races} in {line.time}" for line in lines]


def test_player_gets_a_point_for_each_player_beaten() -> None:
    assert table((2, "ana bo cy")) == ["1 ana 2 of 1 in 1000", "2 bo 1 of 1 in 2000", "3 cy 0 of 1 in 10000"]


def test_tie_is_half_a_point() -> None:
    assert table((0, "ana =bo")) == ["1 ana 0.5 of 1 in 10000", "1 bo 0.5 of 1 in 10000"]


def test_players_who_are_equal_in_all_are_in_the_order_of_their_names() -> None:
    """Records know players only by their names."""
    tied = [replace(standing(1, name), player=player) for player, name in [("1", "bo"), ("2", "ana")]]
    assert [line.name for line in with_race((), tied, 10_000)] == ["ana", "bo"]


def test_time_decides_equal_points() -> None:
    assert table((2, "ana bo"), (1, "bo ana")) == ["1 bo 1 of 2 in 3000", "2 ana 1 of 2 in 11001"]


def test_late_and_leaving_players_keep_their_points() -> None:
    assert table((1, "ana bo"), (1, "cy ana")) == [
        "1 cy 1 of 1 in 1000",
        "2 ana 1 of 2 in 11001",
        "3 bo 0 of 1 in 10000",
    ]


@given(st.lists(st.permutations("abcdef"), max_size=5))
def test_each_pair_of_players_shares_one_point(races: list[list[str]]) -> None:
    lines: tuple[TableLine, ...] = ()
    for race in races:
        lines = with_race(lines, [standing(at, name) for at, name in enumerate(race, 1)], 1)
    assert sum(line.points for line in lines) == 15 * len(races)
    assert [line.place for line in lines] == sorted(line.place for line in lines)

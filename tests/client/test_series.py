from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samedeal_client.rooms.series import MOST_POINTS, Point, Series


def series(*points: tuple[int, int, int]) -> Series:
    made = Series()
    for point in points:
        made = made.add(Point(*point))
    return made


def test_activity_counts_the_moves_of_each_slot() -> None:
    told = series((1_000, 0, 1), (4_900, 0, 3), (5_000, 1, 4), (21_000, 1, 9))
    assert told.activity(22_000, 5, 5_000) == (3, 1, 0, 0, 5)
    assert told.activity(22_000, 2, 5_000) == (0, 5)
    assert told.activity(60_000, 3, 5_000) == (0, 0, 0)


def test_moves_made_before_the_first_point_are_not_of_its_time() -> None:
    assert series((50_000, 4, 70), (51_000, 4, 72)).activity(52_000, 1, 5_000) == (2,)


def test_only_the_last_slot_changes_until_the_next_begins() -> None:
    told = series((1_000, 0, 1), (7_000, 0, 2))
    assert told.activity(7_000, 2, 5_000) == told.activity(9_999, 2, 5_000) == (1, 1)
    assert told.activity(10_000, 2, 5_000) == (1, 0)


def test_what_is_older_or_tells_nothing_new_is_passed_over() -> None:
    told = series((1_000, 1, 1), (2_000, 2, 2))
    assert told.add(Point(1_500, 9, 9)) is told
    assert told.add(Point(3_000, 2, 2)) is told
    assert told.add(Point(2_000, 3, 3)).points == ((1_000, 1, 1), (2_000, 3, 3))


def test_cards_up_since_a_time() -> None:
    assert series((5_000, 1, 1), (9_000, 3, 4)).cards_up(4_000) == ((1_000, 1), (5_000, 3))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2)), min_size=1, max_size=2_000))
def test_a_series_is_bounded_and_keeps_its_ends(steps: list[tuple[int, int]]) -> None:
    told, at, up = Series(), 0, 0
    for number, (wait, rise) in enumerate(steps):
        at, up = at + wait, up + rise
        told = told.add(Point(at, up, number))
    assert len(told.points) <= MOST_POINTS
    assert told.points[-1] == (at, up, len(steps) - 1)
    assert told.points == tuple(sorted(told.points))

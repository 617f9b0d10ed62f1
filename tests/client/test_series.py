from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal_client.rooms.series import MOST_POINTS, Point, Series, climb
from tests.client.hands import won


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


def test_how_it_went_while_one_was_away_is_not_known_but_for_when_it_came_to_the_last() -> None:
    found = series((1_000, 1, 1), (2_000, 2, 2)).resume(Point(9_000, 8, 20), 7_000)
    assert found.points == ((1_000, 1, 1), (2_000, 2, 2), (7_000, 8, 20))
    assert found.missed_since(500) == ((1_500, 6_500),)
    assert found.activity(9_000, 2, 5_000) == (2, 0)
    assert found.add(Point(9_500, 9, 21)).missed == found.missed


def test_one_card_more_leaves_nothing_open() -> None:
    assert series((1_000, 1, 1)).resume(Point(9_000, 2, 5), 8_000) == series((1_000, 1, 1), (9_000, 2, 5))


def test_who_comes_late_knows_nothing_of_before() -> None:
    found = Series().resume(Point(9_000, 8, 20), 7_000)
    assert (found.cards_up(1_000), found.missed_since(1_000)) == (((6_000, 8),), ((0, 6_000),))


@pytest.mark.parametrize("game", ["willow", "steve"])
def test_the_climb_of_a_record_ends_with_all_cards_up(game: str) -> None:
    record = won(game)
    climbed = climb(record)
    assert len(climbed) == len(record.actions)
    assert climbed[-1] == (record.actions[-1][0], record.game.cards)
    assert climb(replace(record, actions=((0, "9 9"),))) == ()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2)), min_size=1, max_size=2_000))
def test_a_series_is_bounded_and_keeps_its_ends(steps: list[tuple[int, int]]) -> None:
    told, at, up = Series(), 0, 0
    for number, (wait, rise) in enumerate(steps):
        at, up = at + wait, up + rise
        told = told.add(Point(at, up, number))
    assert len(told.points) <= MOST_POINTS
    assert told.points[-1] == (at, up, len(steps) - 1)
    assert told.points == tuple(sorted(told.points))

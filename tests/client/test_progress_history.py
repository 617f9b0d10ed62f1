"""Histories of players' counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal_link.model.progress_history import MAX_POINTS, ProgressHistory, ProgressPoint, record_progress
from tests.shared.playouts import won_record


def history_of(*points: tuple[int, int, int]) -> ProgressHistory:
    history = ProgressHistory()
    for point in points:
        history = history.add(ProgressPoint(*point))
    return history


def test_activity_counts_the_moves_of_each_slot() -> None:
    history = history_of((1_000, 0, 1), (4_900, 0, 3), (5_000, 1, 4), (21_000, 1, 9))
    assert history.activity(22_000, 5, 5_000) == (3, 1, 0, 0, 5)
    assert history.activity(22_000, 2, 5_000) == (0, 5)
    assert history.activity(60_000, 3, 5_000) == (0, 0, 0)


def test_moves_before_the_first_point_have_no_slot() -> None:
    assert history_of((50_000, 4, 70), (51_000, 4, 72)).activity(52_000, 1, 5_000) == (2,)


def test_only_the_last_slot_changes() -> None:
    history = history_of((1_000, 0, 1), (7_000, 0, 2))
    assert history.activity(7_000, 2, 5_000) == history.activity(9_999, 2, 5_000) == (1, 1)
    assert history.activity(10_000, 2, 5_000) == (1, 0)


def test_points_without_newer_counts_are_ignored() -> None:
    history = history_of((1_000, 1, 1), (2_000, 2, 2))
    assert history.add(ProgressPoint(1_500, 9, 9)) is history
    assert history.add(ProgressPoint(3_000, 2, 2)) is history
    assert history.add(ProgressPoint(2_000, 3, 3)).points == ((1_000, 1, 1), (2_000, 3, 3))


def test_foundation_cards_since_a_time() -> None:
    assert history_of((5_000, 1, 1), (9_000, 3, 4)).foundation_cards(4_000) == ((1_000, 1), (5_000, 3))


def test_gap_with_several_cards_is_missed() -> None:
    found = history_of((1_000, 1, 1), (2_000, 2, 2)).resume(ProgressPoint(9_000, 8, 20), 7_000)
    assert found.points == ((1_000, 1, 1), (2_000, 2, 2), (7_000, 8, 20))
    assert found.missed_since(500) == ((1_500, 6_500),)
    assert found.activity(9_000, 2, 5_000) == (2, 0)
    assert found.add(ProgressPoint(9_500, 9, 21)).missed == found.missed


def test_gap_with_one_card_is_not_missed() -> None:
    assert history_of((1_000, 1, 1)).resume(ProgressPoint(9_000, 2, 5), 8_000) == history_of(
        (1_000, 1, 1), (9_000, 2, 5)
    )


def test_older_point_after_a_gap_is_ignored() -> None:
    history = history_of((1_000, 2, 2), (9_000, 6, 8))
    assert history.resume(ProgressPoint(1_000, 2, 2), 1_000) is history


def test_first_point_after_a_late_start_is_a_gap() -> None:
    found = ProgressHistory().resume(ProgressPoint(9_000, 8, 20), 7_000)
    assert (found.foundation_cards(1_000), found.missed_since(1_000)) == (((6_000, 8),), ((0, 6_000),))


@pytest.mark.parametrize("game", ["willow", "steve"])
def test_progress_of_a_won_record_ends_with_all_cards(game: str) -> None:
    record = won_record(game)
    climbed = record_progress(record)
    assert len(climbed) == len(record.actions)
    assert climbed[-1] == (record.actions[-1][0], record.game.cards)
    (player,) = record.players
    assert record_progress(replace(record, players=(replace(player, actions=((0, "9 9"),)),))) == ()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2)), min_size=1, max_size=2_000))
def test_history_is_bounded_and_keeps_its_ends(steps: list[tuple[int, int]]) -> None:
    history, at, up = ProgressHistory(), 0, 0
    for number, (wait, rise) in enumerate(steps):
        at, up = at + wait, up + rise
        history = history.add(ProgressPoint(at, up, number))
    assert len(history.points) <= MAX_POINTS
    assert history.points[-1] == (at, up, len(steps) - 1)
    assert history.points == tuple(sorted(history.points))

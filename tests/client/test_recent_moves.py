"""The newest moves of players."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samedeal_link.model.recent_moves import MOST_POINTS, RecentMoves


def moves_of(*points: tuple[int, int]) -> RecentMoves:
    recent = RecentMoves()
    for time, moves in points:
        recent = recent.after(time, moves)
    return recent


def test_activity_counts_the_moves_of_each_slot() -> None:
    recent = moves_of((1_000, 1), (4_900, 3), (5_000, 4), (21_000, 9))
    assert recent.activity(22_000, 5, 5_000) == (3, 1, 0, 0, 5)
    assert recent.activity(22_000, 2, 5_000) == (0, 5)
    assert recent.activity(60_000, 3, 5_000) == (0, 0, 0)


def test_moves_before_the_first_point_have_no_slot() -> None:
    assert moves_of((50_000, 70), (51_000, 72)).activity(52_000, 1, 5_000) == (2,)


def test_moves_after_a_long_pause_have_a_slot() -> None:
    assert moves_of((1_000, 70), (900_000, 71)).activity(900_000, 1, 5_000) == (1,)


def test_only_the_last_slot_changes() -> None:
    recent = moves_of((1_000, 1), (7_000, 2))
    assert recent.activity(7_000, 2, 5_000) == recent.activity(9_999, 2, 5_000) == (1, 1)
    assert recent.activity(10_000, 2, 5_000) == (1, 0)


def test_points_without_newer_moves_are_ignored() -> None:
    recent = moves_of((1_000, 1), (2_000, 2))
    assert recent.after(1_500, 9) is recent
    assert recent.after(3_000, 2) is recent
    assert recent.after(2_000, 3).points == ((1_000, 1), (2_000, 2), (2_000, 3))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=2_000))
def test_points_are_bounded_and_the_newest_stay(waits: list[int]) -> None:
    recent, at = RecentMoves(), 0
    for number, wait in enumerate(waits):
        at += wait
        recent = recent.after(at, number)
    assert len(recent.points) <= MOST_POINTS
    assert recent.points[-1] == (at, len(waits) - 1)
    assert recent.points == tuple(sorted(recent.points))

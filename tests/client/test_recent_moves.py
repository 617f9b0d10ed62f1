"""The newest moves of players."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samedeal_link.model.recent_moves import MOST_POINTS, RecentMoves
from tests.golden.golden_files import assert_answers


def moves_of(*points: tuple[int, int]) -> RecentMoves:
    recent = RecentMoves()
    for time, moves in points:
        recent = recent.after(time, moves)
    return recent


def test_activity_is_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        """The moves in each slot. A question has the points, and then the time, the number of slots and their length."""
        points, asked = question.split("; ")
        recent = moves_of(*((int(time), int(moves)) for time, moves in map(str.split, points.split(", "))))
        return " ".join(map(str, recent.activity(*map(int, asked.split()))))

    assert_answers("activity", answer)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=2_000))
def test_points_are_bounded_and_the_newest_stay(waits: list[int]) -> None:
    recent, at = RecentMoves(), 0
    for number, wait in enumerate(waits):
        at += wait
        recent = recent.after(at, number)
    assert len(recent.points) <= MOST_POINTS
    assert recent.points[-1] == (at, len(waits) - 1)
    assert recent.points == tuple(sorted(recent.points))

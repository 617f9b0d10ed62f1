"""Histories of players' counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal_link.model.progress_history import MAX_POINTS, ProgressHistory, ProgressPoint, record_progress
from tests.golden.golden_files import assert_answers
from tests.shared.playouts import won_record


def history_of(text: str) -> ProgressHistory:
    """A history with points such as ``1000 0 1``: a time, foundation cards and moves.

    ``gap`` stands before a point at which the connection is back, and a fourth number is when the cards were counted.
    """
    history = ProgressHistory()
    for each in text.split(", ") if text else ():
        *gap, time, cards, moves = each.partition(" at ")[0].split()
        point = ProgressPoint(int(time), int(cards), int(moves))
        progress_at = int(each.partition(" at ")[2] or time)
        history = history.resume(point, progress_at) if gap else history.add(point)
    return history


def test_histories_are_those_of_the_page() -> None:
    def answer(_: str, question: str) -> str:
        """The moves in each slot, or the foundation cards and the times that are missed, since a time."""
        points, _, what = question.partition("; ")
        word, *numbers = what.split()
        history = history_of(points)
        if word == "slots":
            return str(history.activity(*map(int, numbers)))
        since = int(numbers[0])
        return f"{history.foundation_cards(since)} missed {history.missed_since(since)}"

    assert_answers("histories", answer)


def test_points_without_newer_counts_are_ignored() -> None:
    history = history_of("1000 1 1, 2000 2 2")
    assert history.add(ProgressPoint(1_500, 9, 9)) is history
    assert history.add(ProgressPoint(3_000, 2, 2)) is history
    assert history.resume(ProgressPoint(1_000, 1, 1), 1_000) is history


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

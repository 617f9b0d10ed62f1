"""Hints to the player."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from samedeal.board import Board
from samedeal.moves import Move
from samedeal_client.bots.hints import HintFinder
from tests.client.boards import board, dealt


@pytest.mark.parametrize("game", ["willow", "phoenix", "athena"])
def test_same_board_gives_the_same_hint(game: str) -> None:
    now, finder = dealt(game, 3), HintFinder(Random(1), 300)
    for _ in range(5):
        move = finder.suggest(now.masked())
        assert move is not None
        assert move == finder.suggest(now.masked())
        now = now.play(move).board


@pytest.mark.parametrize(("game", "number"), [("phoenix", 7), ("athena", 7), ("willow", 5)])
def test_following_hints_comes_to_an_end(game: str, number: int) -> None:
    now, finder = dealt(game, number), HintFinder(Random(1), 300)
    passed: Counter[Board] = Counter()
    while (move := finder.suggest(now.masked())) is not None and passed.total() < 300:
        passed[now.masked()] += 1
        now = now.play(move).board
    assert passed.total() < 300
    assert max(passed.values()) <= 6


def test_new_progress_gives_hints_again() -> None:
    finder = HintFinder(Random(1))
    for text in ("1: 9H | 2: 9D", "1: 9H | 2: 9D | 3: 9C", "1: 7H | 2: 9D"):
        for _ in range(9):
            finder.suggest(board("willow", text))
    assert finder.suggest(board("willow", "1: 9H AC | 2: 9D")) == Move("1", "0", 1)

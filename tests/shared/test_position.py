from __future__ import annotations

import pytest

from samedeal.board import Board
from samedeal.errors import SamedealError
from samedeal.games import GAMES
from tests.golden.golden_files import assert_answers

WON = "willow\n01: AC-KC\n02: AD-KD\n03: AH-KH\n04: AS-KS\n"


def read(_: str, question: str) -> str:
    try:
        board = Board.parse(eval(question, {"WON": WON}))
    except SamedealError as error:
        return f"{error.code}: {error}"
    return "WON" if str(board) == WON else str(board)


def test_positions_are_read_as_the_page_says() -> None:
    assert_answers("positions", read)


def test_error_sentence_is_short() -> None:
    for text in (
        f"willow\n{'x' * 10_000}",
        f"willow\n1: {'x' * 10_000}",
        "x" * 10_000,
        f"willow\n1: {'A' * 9999}-{'B' * 9999}",
    ):
        with pytest.raises(SamedealError) as caught:
            Board.parse(text)
        assert len(str(caught.value)) < 100 + len(", ".join(GAMES))

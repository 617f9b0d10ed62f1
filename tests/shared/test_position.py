from __future__ import annotations

from samedeal.board import Board
from samedeal.errors import SamedealError
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

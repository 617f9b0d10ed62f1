from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.moves import DEAL, DRAW, Move
from samedeal.protocol_codes import RefusalCode
from tests.golden.golden_files import assert_sentences
from tests.shared.move_strategies import transfers
from tests.shared.raised import error_of, sentence_lines


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("3 5", Move("3", "5")),
        ("3 5 x4", Move("3", "5", 4)),
        ("3 0", Move("3", "0")),
        ("3 3", Move("3", "3")),
        ("w 0", Move("w", "0")),
        ("q w", Move("q", "w")),
        ("01 5", Move("01", "5")),
        ("8 1 x13", Move("8", "1", 13)),
        ("8 1 x99", Move("8", "1", 99)),
        ("draw", DRAW),
        ("deal", DEAL),
    ],
)
def test_move_round_trips_as_text(text: str, move: Move) -> None:
    assert Move.parse(text) == move
    assert str(move) == text
    assert eval(repr(move), {"Move": Move}) == move
    assert move.is_transfer == (text not in ("draw", "deal"))


@given(st.one_of(transfers, st.sampled_from([DRAW, DEAL])))
def test_every_move_round_trips_as_text(move: Move) -> None:
    assert Move.parse(str(move)) == move


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "3",
        "35",
        "3  5",
        " 3 5",
        "3 5 ",
        "3 5\n",
        "3 5 x1",
        "3 5 x0",
        "3 5 x04",
        "3 5 x100",
        "3 5 4",
        "3 5x4",
        "3 5 x-1",
        "10 1",
        "1 10",
        "0 1",
        "09 1",
        "1 01",
        "stock 1",
        "1 stock",
        "W 0",
        "Draw",
        "draw 1",
        "draw x2",
        "undo",
        "\u0663 5",
        "3 5 x\u0664",
        "3\u00a05",
        "x" * 10_000,
    ],
)
def test_malformed_move_is_rejected(text: str) -> None:
    error = error_of(Move.parse, text)
    assert error.code is RefusalCode.MALFORMED
    assert len(str(error)) < 250


def test_wording_of_malformed_moves() -> None:
    assert_sentences("engine: text of moves", sentence_lines(Move.parse, ["", "3-5", "x" * 10_000]))

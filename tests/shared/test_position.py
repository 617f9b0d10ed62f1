from __future__ import annotations

import pytest

from samedeal.board import Board
from samedeal.errors import MalformedBoard, MalformedText, SamedealError, UnknownGame
from samedeal.games import GAMES
from tests.golden.golden_files import assert_sentences
from tests.shared.playouts import numbered

WON = "willow\n01: AC-KC\n02: AD-KD\n03: AH-KH\n04: AS-KS\n"


@pytest.mark.parametrize(
    "text",
    [
        WON,
        WON.replace("\n", "\r\n"),
        WON.strip(),
        f"\n\n  {WON}\n\n",
        "; a comment\nwillow ; the game\n\n01: AC-KC ; clubs\n 02 :  ad-kd\n03:AH 2H 3H-KH\n04: AS-KS",
        WON + "1:\n2: ; empty\n",
        "willow\n04: AS-KS\n03: AH-KH\n02: AD-KD\n01: AC-9C 10C-KC\n",
    ],
)
def test_handwritten_position_is_parsed(text: str) -> None:
    assert str(Board.parse(text)) == WON


@pytest.mark.parametrize("name", GAMES)
def test_deal_round_trips_as_text(name: str) -> None:
    for number in range(10):
        board = numbered(GAMES[name], number)
        assert Board.parse(str(board)) == board
        assert Board.parse(str(board.masked())) == board.masked()


MALFORMED = [
    ("", MalformedText),
    ("  \n;willow\n", MalformedText),
    ("1: AS", UnknownGame),
    ("willow\nAS 2S", MalformedText),
    ("willow\n8: AS", MalformedText),
    ("willow\nstock: AS", MalformedText),
    ("willow\n1: AS\n1: 2S", MalformedText),
    ("willow\n1:\n1: 2S", MalformedText),
    ("willow\n1: AS 1S", MalformedText),
    (f"{WON}1: AS", MalformedBoard),
    (WON.replace("AS-KS", "AS-QS"), MalformedBoard),
    (WON.replace("04: AS-KS", "04: AS-KS\n1: ??"), MalformedBoard),
]


def test_wording_of_malformed_text() -> None:
    sentences = []
    for text, error in MALFORMED:
        with pytest.raises(error) as caught:
            Board.parse(text)
        assert type(caught.value) is error
        sentences.append(f"{caught.value.code}\t{caught.value}")
    assert_sentences("engine: text of positions", list(dict.fromkeys(sentences)))


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

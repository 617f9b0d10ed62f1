from __future__ import annotations

import pytest

from samedeal.errors import MalformedPosition, MalformedText, SamedealError, UnknownGame
from samedeal.games import GAMES
from samedeal.position import parse_position, position_text
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
def test_positions_as_people_write_them(text: str) -> None:
    assert position_text(parse_position(text)) == WON


@pytest.mark.parametrize("name", GAMES)
def test_deals_go_through_text(name: str) -> None:
    for number in range(10):
        board = numbered(GAMES[name], number)
        assert parse_position(position_text(board)) == board
        assert parse_position(position_text(board.masked())) == board.masked()


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("", MalformedText, "A position starts with the name of its game"),
        ("  \n;willow\n", MalformedText, "A position starts with the name of its game"),
        ("1: AS", UnknownGame, "'1: AS' is not a game: choose one of athena, steve, phoenix, ace-of-hearts, willow"),
        (
            "willow\nAS 2S",
            MalformedText,
            "'AS 2S' is not a pile of Willow: write its name, a colon and its cards",
        ),
        ("willow\n8: AS", MalformedText, "'8: AS' is not a pile of Willow: write its name, a colon and its cards"),
        (
            "willow\nstock: AS",
            MalformedText,
            "'stock: AS' is not a pile of Willow: write its name, a colon and its cards",
        ),
        ("willow\n1: AS\n1: 2S", MalformedText, "Pile 1 is written twice: write all its cards on one line"),
        ("willow\n1:\n1: 2S", MalformedText, "Pile 1 is written twice: write all its cards on one line"),
        (
            "willow\n1: AS 1S",
            MalformedText,
            "'1S' is not a card: write a rank (A 2-9 T J Q K) and a suit (C D H S), as TH",
        ),
        (f"{WON}1: AS", MalformedPosition, "AS is there 2 times; Willow has 1"),
        (WON.replace("AS-KS", "AS-QS"), MalformedPosition, "Willow has 52 cards, here are 51: without KS"),
        (
            WON.replace("04: AS-KS", "04: AS-KS\n1: ??"),
            MalformedPosition,
            "Willow has 52 cards, here are 53",
        ),
    ],
)
def test_what_is_wrong_with_a_position(text: str, error: type[SamedealError], sentence: str) -> None:
    with pytest.raises(error) as caught:
        parse_position(text)
    assert str(caught.value) == sentence
    assert type(caught.value) is error


def test_the_error_is_short() -> None:
    for text in (
        f"willow\n{'x' * 10_000}",
        f"willow\n1: {'x' * 10_000}",
        "x" * 10_000,
        f"willow\n1: {'A' * 9999}-{'B' * 9999}",
    ):
        with pytest.raises(SamedealError) as caught:
            parse_position(text)
        assert len(str(caught.value)) < 150

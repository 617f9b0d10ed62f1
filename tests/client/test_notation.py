"""What a typed line means on a board."""

from __future__ import annotations

import pytest

from samedeal.cards import Card
from samedeal.moves import Move
from samedeal_client.board.notation import Choice, Command, Mistake, Word, understand, understand_command
from tests.client.boards import board


def meaning(game: str, position: str, line: str) -> str:
    """What a line means, as text: a move, ``a or b``, a command, or ``!`` and the mistake."""
    understood = understand(board(game, position).masked(), line)
    match understood:
        case Move():
            return str(understood)
        case Choice(moves):
            return " or ".join(map(str, moves))
        case Command(word, card):
            return word.value if card is None else f"{word.value} {card}"
        case Mistake(sentence):
            return f"!{sentence}"


WILLOW = "1: 9H 8S 7D | 2: TC | 3: 8C | 4: 5S | q: 2S AS | w: 8H | 01: 3D"


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("4 5", "4 5"),
        ("45", "4 5"),
        (" 4  5 ", "4 5"),
        ("1 3", "1 3"),
        ("13", "1 3"),
        ("1 2", "1 2 x3"),
        ("12", "1 2 x3"),
        ("1 5", "1 5 x3"),
        ("1 5 2", "1 5 x2"),
        ("1 5 x2", "1 5 x2"),
        ("1 5x2", "1 5 x2"),
        ("15x2", "1 5 x2"),
        ("152", "1 5 x2"),
        ("15 2", "1 5 x2"),
        ("15 x2", "1 5 x2"),
        ("1 5 1", "1 5"),
        ("Q 0", "q 0"),
        ("q0", "q 0"),
        ("qq", "q 0"),
        ("q q", "q 0"),
        ("q", "q 0"),
        ("3 w", "3 w"),
        ("3w", "3 w"),
        ("1", "1 2 x3"),
        ("w", "w 5"),
        ("4", "!No card of column 4 can go anywhere that helps"),
        ("6", "!There is nothing to move: the column 6 is empty"),
        ("4 2", "!5S can't go on TC: a column builds down by one in alternating colours"),
        ("4 0", "!5S can't go to a foundation: an empty foundation takes only an ace"),
        ("1 5 4", "!There are only 3 cards in column 1, not 4"),
        ("4 8", "!Willow has no pile '8': its piles are"),
        ("x 3", "!Willow has no pile 'x': its piles are"),
        ("9 9", "!Willow has no pile '9': its piles are"),
        ("three five", "!'three five' is not understood: type two piles, as in 3 5 or 3 0, or help"),
        ("4 5 6 7", "!'4 5 6 7' is not understood"),
        ("4 5 x", "!'4 5 x' is not understood"),
        ("4 5x2 3", "!'4 5x2 3' is not understood"),
        ("draw", "!Willow has no draw: there is no stock"),
        ("deal", "!Willow has no deal: there is no stock"),
        ("ß ø", "!'ß ø' is not understood"),
        ("", "!Type a move, as in 3 5, or help"),
        ("4 0x5", "!"),
    ],
)
def test_moves_in_willow(line: str, means: str) -> None:
    understood = meaning("willow", WILLOW, line)
    assert understood.startswith(means) if means.startswith("!") else understood == means


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("draw", "draw"),
        ("d", "draw"),
        ("deal", "draw"),
        ("redeal", "draw"),
        ("w 2", "w 2"),
        ("w", "w 2"),
        ("1 3", "1 3 x2"),
        ("1 3 1", "!QD can't go to the empty column 3: an empty column takes only a king"),
        ("2 3", "!9S can't go to the empty column 3: an empty column takes only a king"),
        ("5 0", "5 0"),
        ("5", "5 0"),
        ("stock 1", "!"),
    ],
)
def test_moves_in_athena(line: str, means: str) -> None:
    position = "1: [4C] KS QD | 2: 9S | 4: [3H] TC | 5: [AC] AD | stock: [2C] [3C] | w: 8S 8D"
    understood = meaning("athena", position, line)
    assert understood.startswith(means)


def test_a_draw_with_an_empty_stock_is_a_redeal() -> None:
    assert meaning("athena", "1: KS | w: 8S 8D", "d") == "draw"
    assert meaning("athena", "1: KS", "d") == "!There is nothing to draw: the stock and the waste are empty"


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("0 1", "01 1 or 02 1"),
        ("01", "01 1 or 02 1"),
        ("02 1", "02 1"),
        ("021", "02 1"),
        ("0 2", "03 2"),
        ("02", "03 2"),
        ("0 3", "!"),
        ("0 0", "!A card can't go from a foundation to a foundation"),
        ("d", "deal"),
        ("deal", "deal"),
        ("draw", "deal"),
    ],
)
def test_moves_in_steve(line: str, means: str) -> None:
    position = "1: 4H | 2: 7S | 3: KD | 01: AC-3C | 02: AS-3S | 03: AH-6H | 04: AC-3C | stock: [9C]"
    assert meaning("steve", position, line).startswith(means)


def test_foundations_that_show_the_same_card_are_as_good_as_each_other() -> None:
    assert meaning("steve", "1: 4H | 01: AC-3C | 04: AC-3C", "0 1") == "01 1"


@pytest.mark.parametrize(
    ("line", "means"),
    [("d", "d 2"), ("u", "u 0"), ("undo", "undo"), ("d 2", "d 2"), ("q", "!"), ("quit", "quit"), ("up", "up")],
)
def test_a_letter_that_names_a_pile_is_that_pile(line: str, means: str) -> None:
    position = "1: 9C | 2: 8H | d: 7S | u: AH | q: KD | 3: 2C | 4: 2C | 5: 2C | 6: 2C"
    assert meaning("phoenix", position, line).startswith(means)


def test_any_number_of_cards_goes_in_ace_of_hearts_but_into_an_empty_column_a_king_leads() -> None:
    position = "1: 8C KS 2D KH 4C | 2: 9C 3S | 4: QC | 5: 9C"
    assert meaning("ace-of-hearts", position, "1 3") == "1 3 x4"
    assert meaning("ace-of-hearts", position, "1 3 2") == "1 3 x2"
    assert meaning("ace-of-hearts", position, "1 5") == "1 5 x5"


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("undo", Command(Word.UNDO)),
        ("U", Command(Word.UNDO)),
        ("?", Command(Word.HINT)),
        ("rematch", Command(Word.AGAIN)),
        ("exit", Command(Word.QUIT)),
        ("ready", Command(Word.READY)),
        ("find th", Command(Word.FIND, Card.parse("TH"))),
        ("find 10 H", Command(Word.FIND, Card.parse("TH"))),
        ("/7h", Command(Word.FIND, Card.parse("7H"))),
        ("3 5", None),
        ("ready now", None),
    ],
)
def test_commands_need_no_board(line: str, means: Command | None) -> None:
    assert understand_command(line) == means


@pytest.mark.parametrize("line", ["find", "find ZZ", "/", "/7", "find 3 5"])
def test_what_to_find_is_a_card(line: str) -> None:
    assert isinstance(understand_command(line), Mistake)


def test_what_is_understood_is_legal(subtests: pytest.Subtests) -> None:
    now = board("willow", WILLOW)
    for first in "1234567qwer0":
        for second in " 01234567qwer":
            with subtests.test(line=first + second):
                understood = understand(now, first + second)
                assert not isinstance(understood, Move) or now.is_legal(understood)

"""Typed lines, parsed for a board."""

from __future__ import annotations

import pytest

from samedeal.cards import Card
from samedeal.moves import Move
from samedeal_client.input.intended_move import Ambiguous, Rejected
from samedeal_client.input.line_parser import TypedCommand, Word, parse_command, parse_line
from tests.client.boards import board


def parsed(game: str, position: str, line: str) -> str:
    """The meaning of a line as text: a move, ``a or b``, a command, or ``!`` and the code of the problem."""
    parsed = parse_line(board(game, position).masked(), line)
    match parsed:
        case Move():
            return str(parsed)
        case Ambiguous(moves):
            return " or ".join(map(str, moves))
        case TypedCommand(word, card):
            return word.value if card is None else f"{word.value} {card}"
        case Rejected(problem):
            return f"!{problem.value}"


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
        ("4", "!no_useful_target"),
        ("6", "!empty_source"),
        ("4 2", "!illegal_move"),
        ("4 0", "!illegal_move"),
        ("1 5 4", "!illegal_move"),
        ("4 8", "!illegal_move"),
        ("x 3", "!illegal_move"),
        ("9 9", "!illegal_move"),
        ("three five", "!unknown_line"),
        ("4 5 6 7", "!unknown_line"),
        ("4 5 x", "!unknown_line"),
        ("4 5x2 3", "!unknown_line"),
        ("draw", "!no_stock"),
        ("deal", "!no_stock"),
        ("ß ø", "!unknown_line"),
        ("", "!empty_line"),
        ("4 0x5", "!illegal_move"),
    ],
)
def test_moves_in_willow(line: str, means: str) -> None:
    assert parsed("willow", WILLOW, line) == means


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
        ("1 3 1", "!illegal_move"),
        ("2 3", "!illegal_move"),
        ("5 0", "5 0"),
        ("5", "5 0"),
        ("stock 1", "!unknown_line"),
    ],
)
def test_moves_in_athena(line: str, means: str) -> None:
    position = "1: [4C] KS QD | 2: 9S | 4: [3H] TC | 5: [AC] AD | stock: [2C] [3C] | w: 8S 8D"
    assert parsed("athena", position, line) == means


def test_draw_with_empty_stock_is_a_redeal() -> None:
    assert parsed("athena", "1: KS | w: 8S 8D", "d") == "draw"
    assert parsed("athena", "1: KS", "d") == "!illegal_move"


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("0 1", "01 1 or 02 1"),
        ("01", "01 1 or 02 1"),
        ("02 1", "02 1"),
        ("021", "02 1"),
        ("0 2", "03 2"),
        ("02", "03 2"),
        ("0 3", "!illegal_move"),
        ("0 0", "!foundation_to_foundation"),
        ("d", "deal"),
        ("deal", "deal"),
        ("draw", "deal"),
    ],
)
def test_moves_in_steve(line: str, means: str) -> None:
    position = "1: 4H | 2: 7S | 3: KD | 01: AC-3C | 02: AS-3S | 03: AH-6H | 04: AC-3C | stock: [9C]"
    assert parsed("steve", position, line) == means


def test_foundations_with_the_same_card_are_not_ambiguous() -> None:
    assert parsed("steve", "1: 4H | 01: AC-3C | 04: AC-3C", "0 1") == "01 1"


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("d", "d 2"),
        ("u", "u 0"),
        ("undo", "undo"),
        ("d 2", "d 2"),
        ("q", "!no_useful_target"),
        ("quit", "quit"),
        ("collect", "collect"),
    ],
)
def test_letter_of_a_pile_wins_over_a_command(line: str, means: str) -> None:
    position = "1: 9C | 2: 8H | d: 7S | u: AH | q: KD | 3: 2C | 4: 2C | 5: 2C | 6: 2C"
    assert parsed("phoenix", position, line) == means


def test_longest_group_to_empty_column_starts_with_a_king() -> None:
    position = "1: 8C KS 2D KH 4C | 2: 9C 3S | 4: QC | 5: 9C"
    assert parsed("ace-of-hearts", position, "1 3") == "1 3 x4"
    assert parsed("ace-of-hearts", position, "1 3 2") == "1 3 x2"
    assert parsed("ace-of-hearts", position, "1 5") == "1 5 x5"


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("undo", TypedCommand(Word.UNDO)),
        ("U", TypedCommand(Word.UNDO)),
        ("?", TypedCommand(Word.HINT)),
        ("rematch", TypedCommand(Word.AGAIN)),
        ("exit", TypedCommand(Word.QUIT)),
        ("ready", TypedCommand(Word.READY)),
        ("find th", TypedCommand(Word.FIND, Card.parse("TH"))),
        ("find 10 H", TypedCommand(Word.FIND, Card.parse("TH"))),
        ("/7h", TypedCommand(Word.FIND, Card.parse("7H"))),
        ("3 5", None),
        ("ready now", None),
    ],
)
def test_commands_need_no_board(line: str, means: TypedCommand | None) -> None:
    assert parse_command(line) == means


@pytest.mark.parametrize("line", ["find", "find ZZ", "/", "/7", "find 3 5"])
def test_find_without_a_card_is_rejected(line: str) -> None:
    assert isinstance(parse_command(line), Rejected)


def test_parsed_moves_are_legal(subtests: pytest.Subtests) -> None:
    now = board("willow", WILLOW)
    for first in "1234567qwer0":
        for second in " 01234567qwer":
            with subtests.test(line=first + second):
                parsed = parse_line(now, first + second)
                assert not isinstance(parsed, Move) or now.is_legal(parsed)

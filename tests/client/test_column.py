"""Columns and fans as they are drawn."""

from __future__ import annotations

import pytest

from samedeal.cards import Card
from samedeal.moves import Move
from samedeal_client.drawing.column import draw_column
from samedeal_client.drawing.layout import layout, smallest
from samedeal_client.drawing.marks import (
    NO_MARKS,
    Marks,
)
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text, row_width
from tests.client.boards import board

GLYPHS = Look()
ASCII = Look(ascii=True)
BARE = Look(colour=False)


def column(game: str, cards: str, look: Look = GLYPHS, rows: int = 18, marks: Marks = NO_MARKS, width: int = 80) -> str:
    """The rows of a game's first column (or fan q), separated by bars and without trailing blanks."""
    key = "q" if game == "willow-fan" else "1"
    now = board(game.removesuffix("-fan"), f"{key}: {cards}")
    small = smallest(now.game).height
    at = next(
        at for height in range(small, 99) if (at := layout(now.game, width, height)).places[key].height == rows + 1
    )
    part = draw_column(now, key, look, at, marks)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(row_text(row).rstrip() for row in part.rows)


def test_column_shows_its_name_and_its_cards() -> None:
    assert column("steve", "9H TC AS") == "  1|  9♥| 10♣|  A♠"
    assert column("steve", "9H TC AS", ASCII) == "  1|  9H| 10C|  AS"


def test_hidden_known_and_face_up_cards_differ() -> None:
    assert column("athena", "[9H] (TC) (9S) ?? AS") == "  1|▒▒▒▒▒|(10♣)| (9♠)|▒▒▒▒▒|  A♠"
    assert column("athena", "[9H] (TC) AS", ASCII) == "  1|#####|(10C)|  AS"


def test_empty_columns_and_fans_differ() -> None:
    assert column("steve", "") == "  1|·····"
    assert column("willow-fan", "") == "  q|  ·"
    assert column("steve", "", ASCII) == "  1|....."


def test_cards_are_two_rows_apart_while_they_fit() -> None:
    assert column("willow", "9H TC AS", rows=24, width=120) == "   1|   9♥||  10♣||   A♠"
    twelve = "AC 3C 5C 7C 9C JC KC 2C 4C 6C 8C TC"
    assert column("willow", twelve, rows=24, width=120).count("||") == 11
    assert column("willow", twelve + " QC", rows=24, width=120).count("||") == 0


def test_dealt_columns_need_a_higher_screen_to_be_roomy() -> None:
    assert column("steve", "9H TC AS", rows=40, width=120) == "   1|   9♥|  10♣|   A♠"
    assert column("steve", "9H TC AS", rows=58, width=120) == "   1|   9♥||  10♣||   A♠"


MIXED = "3H QD 5S TC 7D 2C 8H KS 4D JS 6C AH 9D KC"


@pytest.mark.parametrize(
    ("cards", "shown"),
    [
        (MIXED, "  1|  3♥|  Q♦|  5♠| 10♣|  7♦|  2♣|  8♥|  K♠|  4♦|  J♠|  6♣|  A♥|  9♦|  K♣"),
        (f"{MIXED} 3D", "  1|3♥Q♦|  5♠| 10♣|  7♦|  2♣|  8♥|  K♠|  4♦|  J♠|  6♣|  A♥|  9♦|  K♣|  3♦"),
        (f"{MIXED} 3D AS", "  1|3♥Q♦|5♠10♣|  7♦|  2♣|  8♥|  K♠|  4♦|  J♠|  6♣|  A♥|  9♦|  K♣|  3♦|  A♠"),
    ],
)
def test_deep_column_shows_two_buried_cards_a_row(cards: str, shown: str) -> None:
    assert column("steve", cards, rows=14) == shown


def test_very_deep_column_counts_its_deepest_cards() -> None:
    run = "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS"
    assert column("steve", f"3H QD {run}", rows=14) == (
        "  1|3♥Q♦|  K♠|  Q♠|  J♠| 10♠|  9♠|  8♠|  7♠|  6♠|  5♠|  4♠|  3♠|  2♠|  A♠"
    )
    assert column("steve", f"3H QD 5S {run}", rows=14) == (
        "  1| ⋮+3|  K♠|  Q♠|  J♠| 10♠|  9♠|  8♠|  7♠|  6♠|  5♠|  4♠|  3♠|  2♠|  A♠"
    )
    assert column("steve", f"3H QD 5S TC 7D {run}", rows=15, look=ASCII) == (
        "  1| :+3|10C7D|  KS|  QS|  JS| 10S|  9S|  8S|  7S|  6S|  5S|  4S|  3S|  2S|  AS"
    )


def test_ordered_cards_stay_readable_where_any_can_be_lifted() -> None:
    ten, five = "3H QD 5S TC 7D 2C 8H KS 4D JS", "JC 6C AH 9D KC"
    assert column("ace-of-hearts", f"{ten} {five} {ten} {five} 9S 8S 7S", rows=14) == (
        "  1| ⋮+10|J♣6♣|A♥9♦|K♣3♥|Q♦5♠|10♣7♦|2♣8♥|K♠4♦|J♠J♣|6♣A♥|9♦K♣|  9♠|  8♠|  7♠"
    )


def test_marks_without_colour_are_signs() -> None:
    cards = "9H TC 9C AS"
    assert column("steve", cards, BARE, marks=Marks(source=("1", 2))) == " [1]|  9♥| 10♣| [9♣]| [A♠]"
    assert column("steve", "9H TC", BARE, marks=Marks(source=("1", 1))) == " [1]|  9♥|[10♣]"
    assert column("steve", cards, BARE, marks=Marks(targets=frozenset("1"))) == " >1|  9♥| 10♣|  9♣| >A♠"
    assert column("steve", "TH", BARE, marks=Marks(targets=frozenset("1"))) == " >1|>10♥"
    assert column("steve", "", BARE, marks=Marks(targets=frozenset("1"))) == " >1|>····"
    assert column("steve", cards, BARE, marks=Marks(last=(("1", 2),))) == "  1|  9♥| 10♣|  9♣<|  A♠<"
    assert column("steve", cards, BARE, marks=Marks(found=Card.parse("TC"))) == "  1|  9♥|*10♣*|  9♣|  A♠"
    assert column("steve", cards, BARE, marks=Marks(hint=Move("1", "4", 2))) == " ?1?|  9♥| 10♣| ?9♣?| ?A♠?"
    assert column("steve", cards, BARE, marks=Marks(hint=Move("4", "1"))) == " >1|  9♥| 10♣|  9♣| >A♠"


def test_marks_with_colour_are_styles() -> None:
    every = Marks(("1", 2), frozenset("1"), (("1", 3),), Card.parse("AS"), Move("2", "1"))
    assert column("steve", "9H TC 9C AS", GLYPHS, marks=every) == column("steve", "9H TC 9C AS")
    now = board("steve", "1: 9H TC 9C AS")
    part = draw_column(now, "1", GLYPHS, layout(now.game, 80, 21), every)
    assert [row[0].style for row in part.rows] == ["source", "red", "black last", "black source", "black found"]


def test_marks_reach_buried_cards() -> None:
    deep = f"{MIXED} 3D AS"
    assert column("steve", deep, BARE, rows=14, marks=Marks(found=Card.parse("QD"))).startswith("  1|3♥*Q♦|5♠10♣|")
    assert column("ace-of-hearts", deep, BARE, rows=14, marks=Marks(source=("1", 14))).startswith(" [1]|3♥Q♦|[5♠T♣|")
    assert column("ace-of-hearts", deep, BARE, rows=14, marks=Marks(source=("1", 15))).startswith(" [1]|3♥[Q♦|[5♠T♣|")
    run = "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS"
    covered = f"3H QD 5S TC {run}"
    assert column("steve", covered, BARE, rows=14, marks=Marks(found=Card.parse("QD"))).startswith("  1|*⋮+4|")
    assert column("steve", covered, BARE, rows=14, marks=Marks(source=("1", 16))).startswith(" [1]|[⋮+4|")


def test_suits_can_have_four_colours() -> None:
    assert [Look().style(Card.parse(card)) for card in ("AC", "AD", "AH", "AS")] == ["black", "red", "red", "black"]
    four = Look(four_colour=True)
    assert [four.style(Card.parse(card)) for card in ("AC", "AD", "AH", "AS")] == ["club", "diamond", "red", "black"]

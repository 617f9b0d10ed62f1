"""Columns and fans as they are drawn."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from samedeal.cards import Card
from samedeal.moves import Move
from samedeal_client.drawing.board_picture import Region
from samedeal_client.drawing.column import draw_column
from samedeal_client.drawing.layout import CardSize, Rect, layout
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


SMALL = CardSize(5, 2, 1, 1)
NARROW = CardSize(4, 2, 1, 1)
MEDIUM = CardSize(5, 3, 2, 2)
LARGE = CardSize(7, 5, 2, 2)


def region(game: str, cards: str, look: Look, rows: int, marks: Marks, size: CardSize) -> Region:
    """A game's first column (or fan q) in a place with ``rows`` rows for cards."""
    key = "q" if game == "willow-fan" else "1"
    now = board(game.removesuffix("-fan"), f"{key}: {cards}")
    at = replace(layout(now.game, 80, 40), places={key: Rect(0, 0, size.width + 1, rows + 1)}, card=size, gap=1)
    return draw_column(now, key, look, at, marks)


def column(
    game: str, cards: str, look: Look = GLYPHS, rows: int = 18, marks: Marks = NO_MARKS, size: CardSize = SMALL
) -> str:
    """The rows of a column, separated by bars and without trailing blanks and the line next to a card's name."""
    part = region(game, cards, look, rows, marks, size)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(re.sub(r"(?<=[^ ▁_])[▁_]+$", "", row_text(row).rstrip()) for row in part.rows)


def styles(part: Region) -> list[str]:
    """The style of each row, apart from the gap on its left."""
    return [row[1].style for row in part.rows]


def test_empty_pile_says_what_it_takes() -> None:
    assert column("steve", "") == "   1| ╭───╮| │any│| ╰───╯"
    assert column("athena", "") == "   1| ╭───╮| │ K │| ╰───╯"
    assert column("willow-fan", "") == "   q| ╭───╮| │   │| ╰───╯"
    assert column("steve", "", ASCII, size=NARROW) == "  1| +--+| any| +--+"
    assert column("athena", "", size=LARGE).split("|", 1)[1] == " ╭─────╮| │     │| │  K  │| │     │| ╰─────╯"


def test_top_card_is_taller_while_there_is_room() -> None:
    assert column("willow", "9H TC", rows=12, size=MEDIUM) == "   1|  9♥| ▁▁▁▁▁|  10♣|   ♣|   10♣"
    twelve = "AC 3C 5C 7C 9C JC KC 2C 4C 6C 8C TC"
    assert column("willow", twelve, rows=14, size=MEDIUM).endswith("8♣|  10♣|   ♣|   10♣")
    assert column("willow", twelve, rows=13, size=MEDIUM).endswith("8♣|  10♣|   10♣")
    assert column("willow", twelve, rows=12, size=MEDIUM).endswith("8♣|  10♣")


def test_covered_cards_are_compressed_from_the_deepest() -> None:
    assert column("willow", "9H TC 3D", rows=6, size=MEDIUM) == "   1|  9♥|  10♣| ▁▁▁▁▁|  3♦|   ♦|   3♦"
    assert column("athena", "[9H] TC 3D", rows=12, size=MEDIUM) == "   1| ░░░░░|  10♣| ▁▁▁▁▁|  3♦|   ♦|   3♦"


def test_large_cards_have_pips_and_pictures() -> None:
    assert column("steve", "5H", size=LARGE) == "    1|  5♥|  ♥   ♥|    ♥|  ♥   ♥|     5♥"
    assert column("steve", "KS", size=LARGE) == "    1|  K♠|  █▄█▄█|  ▀▀█▀▀|  ▄▀▀▀▄|     K♠"
    assert column("steve", "JS", BARE, size=LARGE) == "    1|  J♠|    ♠|    J|    ♠|     J♠"
    assert column("steve", "KS", ASCII, size=LARGE) == "    1|  KS|    S|    K|    S|     KS"
    assert column("steve", "KS", size=MEDIUM) == "   1|  K♠|   K|   K♠"
    for rank, text in enumerate("A23456789T", 1):
        for size, rows in ((LARGE, 3), (CardSize(9, 7, 3, 3), 5)):
            drawn = column("steve", f"{text}H", size=size).split("|")[2 : 2 + rows]
            assert "".join(drawn).count("♥") == rank


def test_cards_that_move_together_are_one_block() -> None:
    part = region("willow", "KH 9S 8H 7C", GLYPHS, 18, NO_MARKS, SMALL)
    suits = ["red-card", "black-card", "red-card", "black-card", "black-card"]
    shades = ["buried", "paper", "paper", "paper", "paper"]
    assert styles(part)[1:] == [f"{shade} {suit}" for shade, suit in zip(shades, suits, strict=True)]
    fan = region("willow-fan", "8H 8C", GLYPHS, 18, NO_MARKS, SMALL)
    assert styles(fan)[1:] == ["buried red-card", "paper black-card", "paper black-card"]


MIXED = "3H QD 5S TC 7D 2C 8H KS 4D JS 6C AH 9D KC"


@pytest.mark.parametrize(
    ("cards", "shown"),
    [
        (MIXED, " 3♥| Q♦| 5♠| 10♣| 7♦| 2♣| 8♥| K♠| 4♦| J♠| 6♣| A♥| 9♦| K♣"),
        (f"{MIXED} 3D", " 3♥Q♦| 5♠| 10♣| 7♦| 2♣| 8♥| K♠| 4♦| J♠| 6♣| A♥| 9♦| K♣| 3♦"),
        (f"{MIXED} 3D AS", " 3♥Q♦| 5♠T♣| 7♦| 2♣| 8♥| K♠| 4♦| J♠| 6♣| A♥| 9♦| K♣| 3♦| A♠"),
    ],
)
def test_deep_column_shows_two_buried_cards_a_row(cards: str, shown: str) -> None:
    assert column("steve", cards, rows=14, size=NARROW) == f"  1|{shown}"


RUN = "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS"
RUN_ROWS = "  K♠|  Q♠|  J♠|  10♠|  9♠|  8♠|  7♠|  6♠|  5♠|  4♠|  3♠|  2♠|  A♠"


def test_very_deep_column_counts_its_deepest_cards() -> None:
    assert column("steve", f"3H QD {RUN}", rows=14) == f"   1| 3♥ Q♦|{RUN_ROWS}"
    assert column("steve", f"3H QD 5S {RUN}", rows=14) == f"   1|   +3|{RUN_ROWS}"
    assert column("steve", f"3H QD 5S TC 7D {RUN}", rows=15).startswith("   1|   +3| T♣ 7♦|  K♠|")


def test_long_run_shares_rows_on_the_smallest_screen() -> None:
    assert column("steve", f"3H QD 5S TC 7D {RUN}", rows=12).startswith("   1|   +5| K♠ Q♠| J♠ T♠|  9♠|  8♠|")
    assert column("steve", RUN, rows=12).startswith("   1| K♠ Q♠|  J♠|  10♠|")


def test_ordered_cards_stay_readable_where_any_can_be_lifted() -> None:
    ten, five = "3H QD 5S TC 7D 2C 8H KS 4D JS", "JC 6C AH 9D KC"
    assert column("ace-of-hearts", f"{ten} {five} {ten} {five} 9S 8S 7S", rows=14) == (
        "   1|  +10| J♣ 6♣| A♥ 9♦| K♣ 3♥| Q♦ 5♠| T♣ 7♦| 2♣ 8♥| K♠ 4♦| J♠ J♣| 6♣ A♥| 9♦ K♣|  9♠|  8♠|  7♠"
    )


EVERY = Marks(("1", 2), frozenset("1"), (("1", 3),), Card.parse("AS"), Move("2", "1"))


@pytest.mark.parametrize("look", [GLYPHS, ASCII, BARE])
def test_every_mark_has_a_style(look: Look) -> None:
    part = region("steve", "9H TC 9C AS", look, 18, EVERY, SMALL)
    assert styles(part) == [
        "source",
        "buried red-card",
        "buried last black-card",
        "buried source black-card",
        *["paper found black-card"] * 2,
    ]


def test_marks_reach_buried_cards() -> None:
    deep = f"{MIXED} 3D AS"
    assert column("steve", deep, rows=14, marks=Marks(found=Card.parse("QD"))).startswith("   1| 3♥Q♦*| 5♠ T♣|")
    part = region("ace-of-hearts", deep, BARE, 14, Marks(source=("1", 15)), SMALL)
    assert row_text(part.rows[1]) == " 3♥Q♦↑"
    assert [span.style for span in part.rows[1]] == ["", "buried red-card", "buried source red-card"]
    covered = f"3H QD 5S TC {RUN}"
    assert column("steve", covered, rows=14, marks=Marks(found=Card.parse("QD"))).startswith("   1|  +4*|")
    assert column("steve", covered, rows=14, marks=Marks(source=("1", 16))).startswith(" 1 ↑16|  +4↑|")


def test_suits_can_have_four_colours() -> None:
    assert [Look().style(Card.parse(card)) for card in ("AC", "AD", "AH", "AS")] == ["black", "red", "red", "black"]
    four = Look(four_colour=True)
    assert [four.style(Card.parse(card)) for card in ("AC", "AD", "AH", "AS")] == ["club", "diamond", "red", "black"]

"""Stock, waste, foundations and reserve as they are drawn."""

from __future__ import annotations

from samedeal.moves import DEAL, DRAW, Move
from samedeal_client.drawing.layout import layout
from samedeal_client.drawing.marks import (
    NO_MARKS,
    Marks,
)
from samedeal_client.drawing.top_row import draw_reserve, draw_top
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text, row_width
from tests.client.boards import board

GLYPHS = Look()
ASCII = Look(ascii=True)
BARE = Look(colour=False)


def top(game: str, text: str, look: Look = GLYPHS, marks: Marks = NO_MARKS) -> str:
    now = board(game, text)
    part = draw_top(now, look, layout(now.game, 80, 21), marks)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(row_text(row).rstrip() for row in part.rows)


def test_waste_shows_three_cards_and_marks_the_playable_one() -> None:
    assert top("athena", "w: 9H") == " ␣ redeal 1   w waste   9♥            0   ·♠   ·♥   ·♦   ·♣"
    assert (
        top("athena", "stock: [2C] | w: 2H 9H KS TH") == " ␣ stock 1    w waste   9♥   K♠  10♥  0   ·♠   ·♥   ·♦   ·♣"
    )
    assert (
        top("athena", "stock: [2C] | w: 9H KS", BARE) == " ␣ stock 1    w waste   9♥  |K♠|      0   ·♠   ·♥   ·♦   ·♣"
    )
    assert top("athena", "stock: [2C] | w: 9H KS", BARE, Marks(source=("w", 1))) == (
        " ␣ stock 1    w waste   9♥  [K♠]      0   ·♠   ·♥   ·♦   ·♣"
    )


def test_stock_shows_its_count_or_the_redeal() -> None:
    assert top("athena", "stock: [2C] (3C)").startswith(" ␣ stock 2    w waste ")
    assert top("athena", "w: 2C 3C 4C").startswith(" ␣ redeal 3   w waste ")
    assert top("athena", "").startswith(" ␣ stock 0    w waste ")
    assert top("steve", "", ASCII).startswith(" Sp stock 0    0  ")
    assert top("athena", "stock: [2C]", BARE, Marks(hint=DRAW)).startswith("?␣ stock 1?   w waste ")
    assert top("ace-of-hearts", "stock: [2C]", BARE, Marks(hint=DEAL)).startswith("?␣ stock 1?    0  ")


def test_four_foundations_are_in_the_order_of_suits() -> None:
    assert top("willow", "01: AD-4D | 02: AC | 04: AS 2S") == " 0   2♠   ·♥   4♦   A♣"
    assert top("willow", "", ASCII) == " 0   .S   .H   .D   .C"


def test_eight_foundations_have_names() -> None:
    assert top("steve", "01: AD-4D | 02: AC | 04: AS 2S | 08: AD") == (
        " ␣ stock 0     0   4♦   A♣   ·    2♠   ·    ·    ·    A♦|"
        "                   01   02   03   04   05   06   07   08"
    )


def test_single_foundation_shows_its_next_card() -> None:
    assert top("ace-of-hearts", "") == " ␣ stock 0     0   ·    next A♥   0/52"
    assert top("ace-of-hearts", "01: AH 2C 3D 4D") == " ␣ stock 0     0   4♦   next 5    4/52"
    assert top("ace-of-hearts", "01: AH-KH").endswith("next A   13/52")
    assert top("ace-of-hearts", "01: AH-9H").endswith("next 10   9/52")
    full = "01: " + " ".join(f"A{suit}-K{suit}" for suit in "HSDC")
    assert top("ace-of-hearts", full) == " ␣ stock 0     0   K♣  52/52"


def test_foundations_are_marked_as_sources_and_targets() -> None:
    assert top("willow", "01: AD", BARE, Marks(targets=frozenset(["01"]))) == " 0   ·♠   ·♥  >A♦   ·♣"
    assert top("willow", "", BARE, Marks(targets=frozenset(["01"]))) == " 0  >·♠   ·♥   ·♦   ·♣"
    assert top("steve", "01: AD TD", BARE, Marks(source=("01", 1))).startswith(" ␣ stock 0     0 [10♦]  ·  ")
    assert top("steve", "01: AD TD", BARE, Marks(last=(("01", 1),))).startswith(" ␣ stock 0     0  10♦<  ·  ")


def test_reserve_shows_each_card_after_its_name() -> None:
    now = board("phoenix", "q: TH | w: 9S | k: AC")
    at = layout(now.game, 80, 21)
    rows = [row_text(row).rstrip() for row in draw_reserve(now, GLYPHS, at).rows]
    assert rows == ["q 10♥ w 9♠  e ·   r ·   t ·   y ·   u ·   i ·", "a ·   s ·   d ·   f ·   g ·   h ·   j ·   k A♣"]
    marked = draw_reserve(now, BARE, at, Marks(("q", 1), hint=Move("w", "3"))).rows[0]
    assert row_text(marked).startswith("q[10♥]w?9♠? e ·")

"""Stock, waste, foundations and reserve as they are drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from samedeal.moves import DEAL, DRAW, Move
from samedeal_client.drawing.card_tile import stock_tile
from samedeal_client.drawing.layout import RESERVE, TOP, CardSize, Rect, layout
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


SMALL = CardSize(5, 2, 1, 1)
FLAT = CardSize(4, 1, 1, 1)


def region(
    game: str, text: str, name: str, look: Look = GLYPHS, marks: Marks = NO_MARKS, size: CardSize = SMALL
) -> str:
    now = board(game, text)
    usual = layout(now.game, 80, 21)
    height = {TOP: 1 + size.height, RESERVE: 2 * (1 + size.height if size.is_large else 1)}[name]
    at = replace(usual, places={name: Rect(0, 0, 62, height)}, card=size, gap=1)
    part = (draw_top if name == TOP else draw_reserve)(now, look, at, marks)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(row_text(row).rstrip() for row in part.rows)


def top(game: str, text: str, look: Look = GLYPHS, marks: Marks = NO_MARKS, size: CardSize = SMALL) -> str:
    return region(game, text, TOP, look, marks, size)


def test_waste_shows_three_cards() -> None:
    assert top("athena", "w: 9H").startswith("Space   w           0     0     0     0|╭↻1─╮  9♥         ╭♠──╮")
    assert top("athena", "stock: [2C] | w: 2H 9H KS TH").split("|")[1].startswith("░░░░░ 9♥ K♠  10♥  ╭♠──╮")
    marked = top("athena", "stock: [2C] | w: 9H KS", GLYPHS, Marks(source=("w", 1)))
    assert marked.startswith("Space   w↑          0     0     0     0|░░░░░ 9♥  K♠ ↑    ╭♠──╮")


def test_stock_shows_its_count_or_the_redeal() -> None:
    assert top("athena", "stock: [2C] (3C)").startswith("Space   w ")
    assert top("athena", "stock: [2C] (3C)").split("|")[2].startswith("░ 2 ░ ")
    assert top("athena", "w: 2C 3C 4C").split("|")[1].startswith("╭↻3─╮ ")
    assert top("athena", "").split("|")[1].startswith("╭───╮ ╭───╮       ╭♠──╮")
    assert top("steve", "", ASCII).startswith("Space   0     0")
    assert top("athena", "stock: [2C]", GLYPHS, Marks(hint=DRAW)).startswith("  ␣?    w ")
    assert top("ace-of-hearts", "stock: [2C]", GLYPHS, Marks(hint=DEAL)).split("|")[1].startswith("░░░░?")


@pytest.mark.parametrize(
    ("count", "width", "text"),
    [(68, 5, "  68 "), (4, 4, "  4 "), (4, 5, "░ 4 ░"), (24, 4, " 24 "), (24, 7, "░ 24 ░░")],
)
def test_stock_count_has_a_pattern_on_both_sides_or_none(count: int, width: int, text: str) -> None:
    assert row_text(stock_tile(count, GLYPHS, width, 1)[0]) == text


def test_four_foundations_are_in_the_order_of_suits() -> None:
    text = "01: AD-4D | 02: AC | 04: AS 2S"
    assert top("willow", text) == "  0     0     0     0| 2♠   ╭♥──╮  4♦    A♣|  2♠  ╰───╯   4♦    A♣"
    assert top("willow", text, size=FLAT) == " 0    0    0    0|2♠   [♥ ] 4♦   A♣"
    assert top("willow", "", ASCII, size=FLAT) == " 0    0    0    0|[S ] [H ] [D ] [C ]"


def test_eight_foundations_have_the_same_key() -> None:
    assert top("steve", "01: AD-4D | 02: AC | 04: AS 2S | 08: AD", size=FLAT) == (
        " ␣    0    0    0    0    0    0    0    0| ·   4♦   A♣   [A ] 2♠   [A ] [A ] [A ] A♦"
    )


def test_single_foundation_shows_its_next_card() -> None:
    assert top("ace-of-hearts", "", size=FLAT) == " ␣         0| ·        [A♥] next A♥"
    assert top("ace-of-hearts", "01: AH 2C 3D 4D", size=FLAT).endswith("4♦   next 5")
    assert top("ace-of-hearts", "01: AH-KH", size=FLAT).endswith("next A")
    assert top("ace-of-hearts", "01: AH-9H", size=FLAT).endswith("next 10")
    full = "01: " + " ".join(f"A{suit}-K{suit}" for suit in "HSDC")
    assert top("ace-of-hearts", full, size=FLAT).endswith("K♣")


def test_foundations_are_marked_as_sources_and_targets() -> None:
    target = Marks(targets=frozenset(["01"]))
    assert top("willow", "01: AD", GLYPHS, target, FLAT) == " 0    0    0↓   0|[♠ ] [♥ ] A♦ ↓ [♣ ]"
    assert top("willow", "", GLYPHS, target, FLAT) == " 0↓   0    0    0|[♠↓] [♥ ] [♦ ] [♣ ]"
    assert top("steve", "01: AD TD", GLYPHS, Marks(source=("01", 1)), FLAT).endswith(
        " ·   10♦↑ " + "[A ] " * 6 + "[A ]"
    )
    assert top("steve", "01: AD TD", GLYPHS, Marks(last=(("01", 1),)), FLAT).split("|")[1].startswith(" ·   10♦• ")


def test_reserve_shows_each_card_beside_its_name() -> None:
    cards = "q: TH | w: 9S | k: AC"
    assert region("phoenix", cards, RESERVE).split("|") == [
        "q 10♥  w 9♠   e  ·   r  ·   t  ·   y  ·   u  ·   i  ·",
        "a  ·   s  ·   d  ·   f  ·   g  ·   h  ·   j  ·   k A♣",
    ]
    marked = region("phoenix", cards, RESERVE, BARE, Marks(("q", 1), hint=Move("w", "3")))
    assert marked.startswith("q 10♥↑ w 9♠ ? e  ·")


def test_large_reserve_has_names_above_its_cards() -> None:
    rows = region("phoenix", "q: TH | k: AC", RESERVE, size=CardSize(5, 3, 2, 2)).split("|")
    assert rows[0] == "  q     w     e     r     t     y     u     i"
    assert [row[:5].rstrip() for row in rows[1:4]] == [" 10♥", "  ♥", "  10♥"]

"""Columns, fans, stock, waste, foundations and reserve as they are drawn: ``tests/golden/answers/piles.txt``.

A question says how and what is drawn: ``steve, 14 rows, narrow, source 2: 9H TC`` is a column of Steve in a place for 14
rows of narrow cards, in which two cards are selected.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pytest

from samedeal.cards import Card
from samedeal.moves import Move
from samedeal_client.board.board_picture import Region
from samedeal_client.board.column import draw_column
from samedeal_client.board.layout import RESERVE, TOP, CardSize, Rect, layout
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.board.top_row import draw_reserve, draw_top
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text, row_width
from tests.client.boards import board
from tests.golden.golden_files import assert_answers

GLYPHS, ASCII, BARE = Look(), Look(ascii=True), Look(colour=False)
LOOKS: Final = {"ascii": ASCII, "bare": BARE}
SMALL: Final = CardSize(5, 2, 1, 1)
SIZES: Final = {
    "flat": CardSize(4, 1, 1, 1),
    "narrow": CardSize(4, 2, 1, 1),
    "medium": CardSize(5, 3, 2, 2),
    "large": CardSize(7, 5, 2, 2),
    "largest": CardSize(9, 7, 3, 3),
}


def drawn(heading: str, question: str) -> str:
    """The rows of what is drawn, separated by bars, without trailing blanks and the line next to a card's name."""
    how, _, cards = question.partition(":")
    game, *words = how.split(", ")
    look, size, rows, marks = GLYPHS, SMALL, 18, NO_MARKS
    for word, value in (each.split(" ", 1) if " " in each else (each, "") for each in words):
        look, size = LOOKS.get(word, look), SIZES.get(word, size)
        rows = int(word) if value == "rows" else rows
        marks = marked(marks, word, value)
    part = region(heading, game, cards.strip(), look, rows, marks, size)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(re.sub(r"(?<=[^ ▁_])[▁_]+$", "", row_text(row).rstrip()) for row in part.rows)


def marked(marks: Marks, word: str, value: str) -> Marks:
    """Marks with one more, on column 1 unless it names another pile."""
    pile, _, count = value.rpartition(" ")
    match word:
        case "source":
            return replace(marks, source=(pile or "1", int(count)))
        case "last":
            return replace(marks, last=((pile or "1", int(count)),))
        case "target":
            return replace(marks, targets=frozenset([value or "1"]))
        case "found":
            return replace(marks, found=Card.parse(value))
        case "hint":
            return replace(marks, hint=Move.parse(value))
        case _:
            return marks


def region(heading: str, game: str, cards: str, look: Look, rows: int, marks: Marks, size: CardSize) -> Region:
    if heading in ("Columns", "Fans"):
        key = {"Columns": "1", "Fans": "q"}[heading]
        now = board(game, f"{key}: {cards}")
        place = Rect(0, 0, size.width + 1, rows + 1)
        return draw_column(
            now, key, look, replace(layout(now.game, 80, 40), places={key: place}, card=size, gap=1), marks
        )
    now, name = board(game, cards), RESERVE if heading == "Reserve" else TOP
    height = {TOP: 1 + size.height, RESERVE: 2 * (1 + size.height if size.is_large else 1)}[name]
    at = replace(layout(now.game, 80, 21), places={name: Rect(0, 0, 62, height)}, card=size, gap=1)
    return (draw_top if name == TOP else draw_reserve)(now, look, at, marks)


def test_piles_are_drawn_as_the_page_says() -> None:
    assert_answers("piles", drawn)


def styles(part: Region) -> list[str]:
    """The style of each row, apart from the gap on its left."""
    return [row[1].style for row in part.rows]


def test_cards_that_move_together_are_one_block() -> None:
    column = region("Columns", "willow", "KH 9S 8H 7C", GLYPHS, 18, NO_MARKS, SMALL)
    suits = ["red-card", "black-card", "red-card", "black-card", "black-card"]
    shades = ["buried", "paper", "paper", "paper", "paper"]
    assert styles(column)[1:] == [f"{shade} {suit}" for shade, suit in zip(shades, suits, strict=True)]
    fan = region("Fans", "willow", "8H 8C", GLYPHS, 18, NO_MARKS, SMALL)
    assert styles(fan)[1:] == ["buried red-card", "paper black-card", "paper black-card"]
    backs = region("Columns", "athena", "[9H] (TC) AS", GLYPHS, 18, NO_MARKS, SMALL)
    assert styles(backs)[1:4] == ["back", "back seen-card", "paper black-card"]


@pytest.mark.parametrize("look", [GLYPHS, ASCII, BARE])
def test_every_mark_has_a_style(look: Look) -> None:
    every = Marks(("1", 2), frozenset("1"), (("1", 3),), Card.parse("AS"), Move("2", "1"))
    assert styles(region("Columns", "steve", "9H TC 9C AS", look, 18, every, SMALL)) == [
        "source",
        "buried red-card",
        "buried last black-card",
        "buried source black-card",
        *["paper found black-card"] * 2,
    ]

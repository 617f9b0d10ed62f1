"""Boards as they are drawn: golden files, positions, and properties of all boards and sizes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import DOWN, FACE, Card
from samedeal_client.board.board_picture import BoardPicture, HitTarget, Region
from samedeal_client.board.draw_board import draw_board, pile_rows, region_of
from samedeal_client.board.layout import layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks, liftable_count, selection_marks
from samedeal_client.full_screen.widgets.style_colours import COLOURS
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text, row_width
from tests.client.boards import POSITIONS, board, golden_position, reachable
from tests.client.pictures import hit, position_of, text_of
from tests.golden.golden_files import assert_golden
from tests.shared.playouts import FAMILIES

GLYPHS = Look()
ASCII = Look(ascii=True)
BARE = Look(colour=False)
LARGE = ("athena", "willow", "freecell", "spider")
"""The games whose piles lie differently in a large window."""
SCREENS = (
    *((game, 80, 24, "glyphs") for game in FAMILIES),
    *((game, 120, 40, "glyphs") for game in LARGE),
    ("klondike", 80, 24, "ascii"),
)


def screen(now: Board, look: Look, width: int, height: int, marks: Marks) -> str:
    """A board with an empty panel, between a title and two lines below it, as text."""
    at = layout(now.game, width, height - 3, panel=True)
    lines = text_of(draw_board(now, look, at, marks)).splitlines()
    lines += [""] * (height - 3 - len(lines))
    assert at.panel is not None
    edge = "|" if look.ascii else "▏"
    for y in range(at.panel.y, at.panel.y + at.panel.height):
        lines[y] = f"{lines[y]:<{at.panel.x}}{edge}{'panel' if y == at.panel.y else ''}"
    return "\n".join(["title", *(line.rstrip() for line in lines), "message", "keys"]) + "\n"


def marks_of_every_kind(now: Board) -> Marks:
    """Marks of every kind on a board. The selected pile is the one with the most targets."""
    keys = [now.game.keys[at] for at in now.game.sources]
    source = max(keys, key=lambda key: (len(selection_marks(now, key).targets), liftable_count(now, key)))
    deep = max((now.piles[at] for at in (*now.game.columns, *now.game.fans)), key=len)
    found = next((card for card in deep if card < DOWN), None)
    hints = [move for move in now.legal_moves() if move.source != source]
    one = selection_marks(now, source, last=((now.game.keys[now.game.columns[-1]], 2),))
    return Marks(one.source, one.targets, one.last, found, hints[-1] if hints else None)


def sections(game: str, width: int, height: int, kind: str) -> str:
    """The golden positions of a game. ``test_race_screen`` has those in mid-game in a large window."""
    coloured, bare = Look(ascii=kind == "ascii"), Look(ascii=kind == "ascii", colour=False)
    text = ""
    for stage in POSITIONS if height <= 24 else ["deepest"]:
        now = golden_position(game, stage)
        text += f"== {stage}\n" + screen(now, coloured, width, height, NO_MARKS)
        text += f"== {stage}, with marks and without colour\n" + screen(
            now, bare, width, height, marks_of_every_kind(now)
        )
    return text


@pytest.mark.parametrize(("game", "width", "height", "kind"), SCREENS)
def test_boards_match_the_golden_files(game: str, width: int, height: int, kind: str) -> None:
    assert_golden(f"screens/{game}_{width}x{height}_{kind}.txt", sections(game, width, height, kind))


def listed(now: Board, key: str, look: Look) -> str:
    """All cards of a pile in one line."""
    (row,) = pile_rows(now, key, look, 80)
    return row_text(row)


def test_all_cards_of_a_pile_are_listed() -> None:
    now = board("athena", "3: [9H] TS [2D] (3C) 2H | stock: [AC] (2C) | w: AS 4H")
    assert listed(now, "3", GLYPHS) == "column 3, 5 cards: ▒▒ 10♠ ▒▒ (3♣) 2♥"
    assert listed(now, "stock", GLYPHS) == "stock, 2 cards"
    assert listed(now, "w", ASCII) == "waste, 2 cards: AS 4H"
    assert listed(now, "4", GLYPHS) == "column 4, empty"
    assert listed(now, "01", GLYPHS) == "foundation 01, empty"
    assert listed(board("athena", "3: 9H"), "3", GLYPHS) == "column 3, 1 card: 9♥"
    assert [row_text(row) for row in pile_rows(now, "3", GLYPHS, 20)] == ["column 3, 5 cards:", "▒▒ 10♠ ▒▒ (3♣) 2♥"]


LOOKS = st.builds(Look, ascii=st.booleans(), four_colour=st.booleans(), colour=st.booleans())


def shown_text(part: Region, x: int, y: int, width: int) -> str:
    return row_text(part.rows[y])[x : x + width]


def check_cards(now: Board, picture: BoardPicture, look: Look) -> None:
    """Check that each card of a column, fan or reserve is drawn at its position, or collapsed into the sign above."""
    parts = {part.name: part for part in picture.regions}
    game = now.game
    for at in (*game.columns, *game.fans, *game.reserve):
        key, pile = game.keys[at], now.piles[at]
        part = parts[region_of(now.game, key)]
        places = [position_of(picture, key, card) for card in range(len(pile))]
        covered = places.count(None)
        assert places[:covered] == [None] * covered
        sign = re.search(r"^ *\+(\d+)", row_text(part.rows[1])) if at not in game.reserve else None
        assert covered == (int(sign[1]) if sign else 0)
        for card, place in enumerate(places):
            if place is None:
                continue
            x, y = place
            assert hit(picture, x, y) == HitTarget(key, card)
            spot = next(spot for spot in part.hit_areas if spot.target == HitTarget(key, card))
            text = "".join(shown_text(part, spot.x, spot.y + row, spot.width) for row in range(spot.height))
            code = pile[card]
            backs = (look.glyphs.back, look.card(code).strip("()"))
            faces = (look.card(code), look.short(code)) if code < DOWN else backs
            assert any(face in text for face in faces), (key, card, text)


@settings(max_examples=150)
@given(reachable(), LOOKS, st.integers(0, 140), st.integers(0, 50), st.booleans(), st.data())
def test_every_board_fits_every_size(
    now: Board, look: Look, wider: int, higher: int, panel: bool, data: st.DataObject
) -> None:
    small = smallest(now.game)
    width, height = small.width + wider, small.height + higher
    marks = NO_MARKS
    if data.draw(st.booleans()):
        keys = list(now.game.keys)
        source = data.draw(st.sampled_from(keys))
        picked_up = data.draw(st.sampled_from([None, 1, 2, 40]))
        last = data.draw(st.lists(st.tuples(st.sampled_from(keys), st.integers(1, 13)), max_size=3))
        found = data.draw(st.sampled_from([None, *(Card(code & FACE) for pile in now.piles for code in pile)]))
        hint = data.draw(st.sampled_from([None, *now.legal_moves()]))
        chosen = selection_marks(now, source) if picked_up is None else Marks((source, picked_up), frozenset(keys))
        marks = Marks(chosen.source, chosen.targets, tuple(last), found, hint)
    at = layout(now.game, width, height, panel=panel)
    picture = draw_board(now, look, at, marks)
    assert len(picture.rows) <= height
    assert all(row_width(row) <= width for row in picture.rows)
    assert not look.ascii or text_of(picture).isascii()
    taken: set[tuple[int, int]] = set()
    for part in picture.regions:
        assert len(part.rows) <= part.place.height
        assert all(row_width(row) == part.place.width for row in part.rows)
        cells = {
            (part.place.x + x, part.place.y + y) for x in range(part.place.width) for y in range(part.place.height)
        }
        assert not cells & taken
        taken |= cells
        assert all(set(span.style.split()) <= COLOURS.styles.keys() for row in part.rows for span in row)
    if at.panel is not None:
        assert at.panel.x + at.panel.width == width
        assert at.panel.y + at.panel.height == height
        assert not any(at.panel.x <= x and at.panel.y <= y for x, y in taken)
    check_cards(now, picture, look)
    assert draw_board(now, look, at, marks) == picture
    assert draw_board(now.masked(), look, at, marks) == picture

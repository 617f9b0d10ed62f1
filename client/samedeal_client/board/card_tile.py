"""Cards as tiles: solid rectangles with rank and suit in their corners. Pure.

The rows of a tile are exactly as wide as a card. A covered card shows only the first rows of its tile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from samedeal.cards import DOWN, RANKS, UNSEEN
from samedeal.data_files import read_data
from samedeal_client.board.court_pictures import court_picture
from samedeal_client.board.marks import mark_sign
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, row_width

Shade = Literal["paper", "buried"]
"""The colour of a face-up card: ``paper`` if it can be moved, otherwise ``buried``."""

_MIN_SIGN_WIDTH: Final = 7
"""Minimum width of a card on which a blank separates the sign of the mark from the edge of the card."""

_LONGEST_NAME: Final = "10♥"
_HIGHEST_PIPS: Final = 10
_MIN_FIGURE_ROWS: Final = 3

_PIPS: Final = read_data("samedeal_client.board", "pips.toml", dict[int, tuple[str, ...]])
"""The suit signs in the middle of the cards from ace to ten, for each number of rows between the corners."""


@lru_cache(maxsize=8192)
def tile(code: int, look: Look, width: int, height: int, shade: Shade = "paper", mark: str = "") -> tuple[Row, ...]:
    """Return the rows of a card that nothing covers."""
    if code & DOWN:
        return _back(code, look, width, height, mark)
    style = tile_style(code, look, shade, mark)
    first = (Span(_index_row(look.card(code), look, width, mark), style),)
    if height == 1:
        return (first,)
    last = (Span(_lower_index_row(look.card(code), width), style),)
    return (first, *_middle(code, look, width, height - 2, style), last)


@lru_cache(maxsize=8192)
def covered_tile(
    code: int, look: Look, width: int, height: int, rows: int, shade: Shade, mark: str = ""
) -> tuple[Row, ...]:
    """Return the ``rows`` that a covered card shows. A line in the last row shows where the next card begins.

    In a single row, the line is next to the name of the card.
    """
    if code & DOWN:
        return _back(code, look, width, rows, mark)
    style = tile_style(code, look, shade, mark)
    text = _index_row(look.card(code), look, width, mark)
    if rows == 1:
        name = text.rstrip()
        return ((Span(name, style), Span(look.glyphs.edge * (width - len(name)), f"{style} edge")),)
    first = (Span(text, style),)
    middle = _middle(code, look, width, height - 2, style)[: rows - 2]
    return (first, *middle, (Span(look.glyphs.edge * width, f"{style} edge"),))


@lru_cache(maxsize=256)
def waste_tile(code: int, look: Look, width: int, height: int, mark: str = "") -> tuple[Row, ...]:
    """Return the left part of a card of the waste. A line on its right shows where the next card begins."""
    style = tile_style(code, look, "buried", mark)
    has_line = width > len(_LONGEST_NAME)
    line = (Span(look.glyphs.side_edge, f"{style} edge"),) * has_line
    blank = (Span(" " * (width - has_line), style), *line)
    name, sign = look.card(code).ljust(width), mark_sign(look, mark)
    if mark:
        first: Row = (Span(name[:-1] + sign if name.endswith(" ") else name, style),)
    else:
        first = (Span(name[: width - has_line], style), *line)
    return (first, *[blank] * (height - 1))


@lru_cache(maxsize=256)
def stock_tile(count: int, look: Look, width: int, height: int, mark: str = "") -> tuple[Row, ...]:
    """Return the back of a card, with the number of cards in the stock on it and a blank on each side of the number.

    If the number and its blanks fill all columns of the card except one, that column is blank too.
    """
    rows = _back(UNSEEN, look, width, height, mark)
    style = tile_style(UNSEEN, look, "buried", mark)
    text = f" {count} "
    text = text.rjust(width) if width == len(text) + 1 else text
    written = tile_style(UNSEEN, look, "buried", f"seen-card {mark}".rstrip())
    left = (width - len(text)) // 2
    back = look.glyphs.back
    right = width - left - len(text)
    counted = (Span(back * left, style), Span(text, written), Span(back * right, style))
    return (*rows[: height // 2], counted, *rows[height // 2 + 1 :])


def tile_style(code: int, look: Look, shade: Shade, mark: str) -> str:
    """Return the style of a card's tile. A mark changes the background of a face-up card, not the colour of its suit."""
    if code & DOWN:
        return f"back {mark}".rstrip()
    return " ".join(filter(None, (shade, mark, f"{look.style(code)}-card")))


def slot(takes: str, look: Look, width: int, height: int, mark: str = "") -> tuple[Row, ...]:
    """Return the outline of an empty pile. The text ``takes`` names the cards that the pile takes."""
    left_top, right_top, left_bottom, right_bottom, across, upright = look.glyphs.outline
    style = f"{mark} cut-out" if mark else "empty"
    text = takes + mark_sign(look, mark)
    inner = width - 2
    if height == 1:
        framed = f"[{text:^{inner}}]" if 0 < len(text) <= inner else (text or look.glyphs.empty).center(width)
        return ((Span(framed, style),),)
    legend = "" if height != 2 else text if len(text) <= inner else text.replace("-", "")
    top = left_top + legend[:inner].ljust(inner, across) + right_top
    bottom = left_bottom + across * inner + right_bottom
    middle = [f"{upright}{' ' * inner}{upright}"] * (height - 2)
    if middle:
        named = f"{upright}{text:^{inner}}{upright}" if len(text) <= inner else text.center(width)
        middle[(height - 3) // 2] = named
    return tuple((Span(line, style),) for line in (top, *middle, bottom))


def _index_row(name: str, look: Look, width: int, mark: str) -> str:
    text = _indented(name, width)
    if not mark:
        return text
    at = width - 1 - (width >= _MIN_SIGN_WIDTH)
    return text[:at] + mark_sign(look, mark) + text[at + 1 :]


def _indented(name: str, width: int) -> str:
    """Return a card's name after a blank, padded to ``width`` columns. There is no blank on a narrow card."""
    return (name if width < 5 else f" {name}").ljust(width)


def _lower_index_row(name: str, width: int) -> str:
    """Return a card's name at the right edge, with a blank after it on a card that is wide enough."""
    return (f"{name} " if width > len(name) + 2 else name).rjust(width)


def _middle(code: int, look: Look, width: int, rows: int, style: str) -> tuple[Row, ...]:
    """Return the rows between the corners: suit signs, or the picture of a court card."""
    rank, suit = code & 0x0F, look.suit(code >> 4 & 3)
    if rank <= _HIGHEST_PIPS:
        lines = (
            _PIPS[rows][rank - 1].split("|")
            if rows in _PIPS
            else [suit if at == rows // 2 else "" for at in range(rows)]
        )
        return tuple((Span(line.replace("o", suit).center(width), style),) for line in lines)
    if look.colour and not look.ascii:
        picture = court_picture(rank, f"{look.style(code)}-card", style.split(maxsplit=1)[0], rows)
        if picture:
            margin = Span(" " * ((width - row_width(picture[0])) // 2), style)
            return tuple((margin, *row, margin) for row in picture)
    figure = RANKS[rank - 1]
    lines = [suit, figure, suit] if rows >= _MIN_FIGURE_ROWS else [figure]
    above = [""] * ((rows - len(lines)) // 2)
    below = [""] * rows
    return tuple((Span(line.center(width), style),) for line in (*above, *lines, *below)[:rows])


def _back(code: int, look: Look, width: int, rows: int, mark: str) -> tuple[Row, ...]:
    """Return the back of a card. If the player already knows the card, its rank and suit are written on the back."""
    style = tile_style(code, look, "buried", mark)
    pattern = look.glyphs.back * width
    name = "" if code >= UNSEEN else _indented(look.card(code)[1:-1], width).rstrip()
    first = f"{name}{pattern[len(name) :]}"
    if mark:
        first = first[:-1] + mark_sign(look, mark)
    written = tile_style(code, look, "buried", f"seen-card {mark}".rstrip()) if name else style
    return ((Span(first, written),), *[(Span(pattern, style),)] * (rows - 1))

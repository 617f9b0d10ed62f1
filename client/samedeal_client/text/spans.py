"""Styled text, and text cut and padded to columns of a terminal.

A row is a tuple of spans; a span's style is semantic, one or more of the names in ``look.STYLES`` with spaces between, as
in ``red source``. Colours are for whoever puts rows on a screen.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple, TypeAlias

from samedeal.names import columns_of


class Span(NamedTuple):
    """A piece of text in one style; an empty style is the terminal's own."""

    text: str
    style: str = ""


Row: TypeAlias = tuple[Span, ...]


def row_text(row: Row) -> str:
    """A row without its styles."""
    return "".join(span.text for span in row)


def row_width(row: Row) -> int:
    """How many columns a row takes."""
    return sum(columns_of(span.text) for span in row)


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """The text where it fits into ``width`` columns, else its beginning and the ellipsis.

    A wide character and the marks on a character are never parted from each other.
    """
    if columns_of(text) <= width:
        return text
    room = width - columns_of(ellipsis)
    if room < 0:
        return ""
    taken = 0
    for at, char in enumerate(text):
        taken += columns_of(char)
        if taken > room:
            return text[:at] + ellipsis
    return text


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """The text cut, or padded at its end, to exactly ``width`` columns."""
    short = cut(text, width, ellipsis)
    return short + " " * (width - columns_of(short))


def fit_row(row: Row, width: int) -> Row:
    """A row cut, or padded at its end, to exactly ``width`` columns."""
    spans: list[Span] = []
    left = width
    for span in row:
        text = cut(span.text, left, "")
        if text:
            spans.append(Span(text, span.style))
            left -= columns_of(text)
        if text != span.text:
            break
    if left:
        spans.append(Span(" " * left))
    return tuple(spans)


def wrap(text: str, width: int) -> list[str]:
    """The words of a text in lines of at most ``width`` columns; a word that is wider is cut."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if columns_of(longer) <= width:
            line = longer
        else:
            lines += [line] if line else []
            line = cut(word, width)
    return [*lines, line] if line else lines


def ascii_only(text: str) -> str:
    """The text with accents taken off, and a question mark in each column of what ASCII still lacks."""
    bare = ((char, unicodedata.normalize("NFD", char)[0]) for char in text)
    return "".join(base if base.isascii() and columns_of(char) else "?" * columns_of(char) for char, base in bare)

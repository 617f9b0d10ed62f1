"""Styled text, cut and padded to terminal columns.

A row is a tuple of spans. A style is one or more names separated by spaces, such as ``red source``. The front
end maps names to colours.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from samedeal.terminal_text import columns_of


class Span(NamedTuple):
    """A piece of text in one style. An empty style is the terminal's default."""

    text: str
    style: str = ""


Row: TypeAlias = tuple[Span, ...]


def row_text(row: Row) -> str:
    """Return the text of a row, without styles."""
    return "".join(span.text for span in row)


def row_width(row: Row) -> int:
    """Return the width of a row in columns."""
    return sum(columns_of(span.text) for span in row)


def counted(number: float, noun: str) -> str:
    """Return a number with a noun, as in ``1 card`` or ``3 cards``."""
    return f"{number:.12g} {noun}{'s' * (number != 1)}"


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the text if it fits into ``width`` columns, otherwise its beginning with an ellipsis.

    Combining marks stay with their character, and wide characters are never split.
    """
    if columns_of(text) <= width:
        return text
    available = width - columns_of(ellipsis)
    if available < 0:
        return ""
    used = 0
    for index, char in enumerate(text):
        used += columns_of(char)
        if used > available:
            return text[:index] + ellipsis
    return text


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the text, cut or padded on the right to exactly ``width`` columns."""
    short = cut(text, width, ellipsis)
    return short + " " * (width - columns_of(short))


def table_lines(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, the first of which has the headings. Each column is as wide as its widest text."""
    table = (headings, *lines)
    widths = [max(map(columns_of, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(fit, line, widths)).rstrip() for line in table]


def fit_row(row: Row, width: int, ellipsis: str = "") -> Row:
    """Return a row, cut or padded on the right to exactly ``width`` columns. A row that is cut ends with ``ellipsis``."""
    if ellipsis and row_width(row) > width:
        row = fit_row((*fit_row(row, max(width - columns_of(ellipsis), 0)), Span(ellipsis, "label")), width)
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
    """Return a text wrapped to lines of at most ``width`` columns. A word that is wider than a line is broken."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if columns_of(longer) <= width:
            line = longer
        else:
            lines += [line] if line else []
            while columns_of(word) > width and (part := cut(word, width, "")):
                lines.append(part)
                word = word[len(part) :]
            line = cut(word, width, "")
    return [*lines, line] if line else lines


def wrap_row(row: Row, width: int, indent: str = "  ") -> list[Row]:
    """Return a row wrapped at spaces to rows of at most ``width`` characters. All rows but the first begin with ``indent``.

    A word that is longer than ``width`` is not broken.
    """
    if row_width(row) <= width:
        return [row]
    text, end = row_text(row), 0
    rows: list[Row] = []
    lines = textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    for line in lines:
        words = line.removeprefix(indent) if rows else line
        start = text.index(words, end)
        end = start + len(words)
        rows.append((*[Span(indent)] * bool(rows and indent), *row_part(row, start, end)))
    return rows


def merged(spans: Iterable[Span]) -> Row:
    """Return a row in which adjacent spans of one style are a single span."""
    return tuple(
        Span("".join(span.text for span in same), style) for style, same in groupby(spans, attrgetter("style"))
    )


def row_part(row: Row, start: int, end: int) -> Row:
    """Return the part of a row between two indexes into its text."""
    spans: list[Span] = []
    at = 0
    for text, style in row:
        spans.append(Span(text[max(start - at, 0) : max(end - at, 0)], style))
        at += len(text)
    return tuple(span for span in spans if span.text)


def ascii_only(text: str) -> str:
    """Return the text without accents, with a question mark for each column of any other non-ASCII character."""
    bare = ((char, unicodedata.normalize("NFD", char)[0]) for char in text)
    return "".join(base if base.isascii() and columns_of(char) else "?" * columns_of(char) for char, base in bare)

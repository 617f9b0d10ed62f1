"""The names of styles with their colours, and the conversion of rows to Textual's strips.

``colours.toml`` has the styles. The style of a span may combine several of them. Text has the terminal's own colours
unless it lies on felt or its style sets others. Even on a terminal with 16 colours,
the main marks on cards (``source``, ``target``, ``hint``, ``found``) differ in background from each other and from plain
cards. Important styles also have an attribute (reverse, underline, bold), because a terminal may have no colours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from samedeal.data_files import read_data
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, row_width

Colour = str | tuple[str, str]
"""A colour, or the colours on a dark and on a light terminal."""


class Paint(Struct, frozen=True, forbid_unknown_fields=True):
    """A style: attributes, and the colours of text and background. ``plain`` are its attributes without colours."""

    attributes: str = ""
    colour: Colour = ""
    background: Colour = ""
    plain: str = ""


class Colours(Struct, frozen=True, forbid_unknown_fields=True):
    """The paint of each style, and the colours and variables of Textual's theme. ``colours.toml`` has them."""

    styles: dict[str, Paint]
    theme: dict[str, Colour]
    variables: dict[str, Colour]


COLOURS: Final = read_data("samedeal_client.full_screen.widgets", "colours.toml", Colours)


def shade(colour: Colour, *, dark: bool) -> str:
    """Return the colour on a dark or on a light terminal."""
    return colour if isinstance(colour, str) else colour[0 if dark else 1]


_FELT: Final = Style(color="#e6edf3", bgcolor="#1a5c3a")


@lru_cache(maxsize=1024)
def style_of(names: str, look: Look) -> Style:
    """Return the style of one or more names, separated by spaces. Later names override earlier ones."""
    table = _FELT if look.felt else Style.null()
    style = table
    for name in names.split():
        style = _cut_out(style, table, look) if name == "cut-out" else style + _style(name, look)
    return style


def _cut_out(style: Style, table: Style, look: Look) -> Style:
    """Return a style for text on the table. The text has the colour that the background of ``style`` has.

    Without colours, return ``style`` without reverse video.
    """
    if not look.colour:
        return style + Style(reverse=False, dim=style.dim)
    return table + Style(color=style.bgcolor)


def _style(name: str, look: Look) -> Style:
    paint = COLOURS.styles[name]
    if not look.colour:
        return Style.parse(paint.plain or paint.attributes)
    colour, background = (shade(each, dark=look.dark) for each in (paint.colour, paint.background))
    return Style.parse(paint.attributes) + Style(color=colour or None, bgcolor=background or None)


@lru_cache(maxsize=8192)
def strip_of(row: Row, look: Look) -> Strip:
    """Return a row as a strip for Textual."""
    return Strip([Segment(text, style_of(names, look)) for text, names in row if text], row_width(row))

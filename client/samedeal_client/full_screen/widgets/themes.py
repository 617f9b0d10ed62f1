"""Themes with the terminal's own background, and filters for terminals without colours or Unicode.

The filters change everything that Textual draws itself: borders, scroll bars and menus.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from samedeal_client.full_screen.widgets.style_colours import COLOURS, shade, style_of
from samedeal_client.text.appearance import REPLACED_BY, Look
from samedeal_client.text.spans import Row, ascii_only


def _theme(name: str, *, dark: bool) -> Theme:
    colours: dict[str, Any] = {part: shade(colour, dark=dark) for part, colour in COLOURS.theme.items()}
    variables = {name: shade(colour, dark=dark) for name, colour in COLOURS.variables.items()}
    return Theme(name=name, ansi=True, dark=dark, variables=variables, **colours)


DARK: Final = _theme("samedeal-dark", dark=True)
LIGHT: Final = _theme("samedeal-light", dark=False)

_REPLACED: Final = str.maketrans({glyph: plain for plain, glyphs in REPLACED_BY.items() for glyph in glyphs})


class AsciiFilter(LineFilter):
    """A filter that replaces every character that is not ASCII, in the same number of columns."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's signature)
        """Return the segments in ASCII."""
        return [
            segment
            if segment.text.isascii()
            else Segment(ascii_only(segment.text.translate(_REPLACED)), segment.style, segment.control)
            for segment in segments
        ]


def text_of(row: Row, look: Look, action: str = "") -> Text:
    """Return a row as a renderable for Textual's widgets. A click on the row runs ``action``."""
    text = Text.assemble(*((span.text, style_of(span.style, look)) for span in row), no_wrap=True, end="")
    if action:
        text.stylize(Style.from_meta({"@click": action}))
    return text


def lines_of(rows: Iterable[Row], look: Look) -> Text:
    """Return rows below each other as a renderable for Textual's widgets."""
    return Text("\n").join(text_of(row, look) for row in rows)

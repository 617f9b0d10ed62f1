"""Themes with the terminal's own background, and filters for terminals without colours or Unicode.

The filters change everything that Textual draws itself: borders, scroll bars, menus and the command palette.
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

from samedeal_client.full_screen.widgets.style_colours import style_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, ascii_only

_COLOURS: Final = {
    "primary": ("#58a6ff", "#0969da"),
    "secondary": ("#d2a8ff", "#8250df"),
    "accent": ("#e3b341", "#9a6700"),
    "warning": ("#e3b341", "#9a6700"),
    "error": ("#ff7b72", "#cf222e"),
    "success": ("#3fb950", "#0a7a20"),
}
"""The colours of a theme: the dark one, and the light one."""

_VARIABLES: Final = {
    "border": ("#58a6ff", "#0969da"),
    "border-blurred": ("#484f58", "#afb8c1"),
    "text-muted": ("#8b949e", "#57606a"),
    "text-disabled": ("#6e7681", "#6e7781"),
    "block-cursor-background": ("#10307a", "#a5d8ff"),
    "block-cursor-foreground": ("#ffffff", "#000000"),
    "block-cursor-blurred-background": ("#21262d", "#e6eaef"),
    "block-cursor-blurred-foreground": ("#ffffff", "#000000"),
    "block-hover-background": ("#21262d", "#e6eaef"),
    "ansi-background": ("#21262d", "#e6eaef"),
    "ansi-foreground": ("#e6edf3", "#1f2328"),
    "footer-key-foreground": ("#79c0ff", "#0969da"),
    "footer-description-foreground": ("#8b949e", "#57606a"),
    "input-cursor-background": ("#e6edf3", "#1f2328"),
    "input-cursor-foreground": ("#0d1117", "#ffffff"),
    "input-selection-background": ("#1f6feb", "#a5d8ff"),
    "input-selection-foreground": ("#ffffff", "#000000"),
    "scrollbar": ("#484f58", "#afb8c1"),
    "scrollbar-hover": ("#6e7681", "#8c959f"),
    "scrollbar-active": ("#58a6ff", "#0969da"),
}

_UNTOUCHED: Final = "ansi_default"  # the colour that the terminal has anyway


def _theme(name: str, shade: int) -> Theme:
    colours: dict[str, Any] = {part: pair[shade] for part, pair in _COLOURS.items()}
    colours |= dict.fromkeys(("foreground", "background", "surface", "panel", "boost"), _UNTOUCHED)
    variables = {variable: pair[shade] for variable, pair in _VARIABLES.items()}
    variables |= {
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-text-style": "none",
        "input-cursor-text-style": "none",
        **{f"scrollbar-background{state}": _UNTOUCHED for state in ("", "-hover", "-active")},
    }
    return Theme(name=name, ansi=True, dark=not shade, variables=variables, **colours)


DARK: Final = _theme("samedeal-dark", 0)
LIGHT: Final = _theme("samedeal-light", 1)

_ASCII_GLYPHS: Final = {
    ord(glyph): plain
    for glyphs, plain in (
        ("─━═╴╶╸╺╾╼▔", "-"),
        ("│┃║▏▎▍▌▕▐", "|"),
        ("┌┐└┘├┤┬┴┼╭╮╰╯", "+"),
        ("▁▂▃▄▀", "_"),
        ("▅▆▇█▉▊▋", "#"),
        ("▲▴↑", "^"),
        ("▼▾", "+"),
        ("↓", "v"),
        ("◀◂‹←⌫", "<"),
        ("▶▸›→", ">"),
        ("•●◉", "*"),
        ("○⭘", "o"),
        ("·", "."),
        ("…", "~"),
    )
    for glyph in glyphs
}


class AsciiFilter(LineFilter):
    """A filter that replaces every character that is not ASCII, in the same number of columns."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's signature)
        """Return the segments in ASCII."""
        return [
            segment
            if segment.text.isascii()
            else Segment(ascii_only(segment.text.translate(_ASCII_GLYPHS)), segment.style, segment.control)
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

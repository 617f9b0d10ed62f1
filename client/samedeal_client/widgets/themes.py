"""Themes with the terminal's own background, and filters for terminals without colours or Unicode.

The filters change everything that Textual draws itself: borders, scroll bars, menus and the command palette.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, ascii_only
from samedeal_client.widgets.style_colours import style_of

DARK: Final = Theme(
    name="samedeal-dark",
    ansi=True,
    dark=True,
    primary="#58a6ff",
    secondary="#d2a8ff",
    accent="#e3b341",
    warning="#e3b341",
    error="#ff7b72",
    success="#3fb950",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "border": "#58a6ff",
        "border-blurred": "#484f58",
        "text-muted": "#8b949e",
        "text-disabled": "#6e7681",
        "block-cursor-background": "#10307a",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#21262d",
        "block-cursor-blurred-foreground": "#ffffff",
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": "#21262d",
        "ansi-background": "#21262d",
        "ansi-foreground": "#e6edf3",
        "footer-key-foreground": "#79c0ff",
        "footer-description-foreground": "#8b949e",
        "input-cursor-background": "#e6edf3",
        "input-cursor-foreground": "#0d1117",
        "input-cursor-text-style": "none",
        "input-selection-background": "#1f6feb",
        "input-selection-foreground": "#ffffff",
        "scrollbar": "#484f58",
        "scrollbar-hover": "#6e7681",
        "scrollbar-active": "#58a6ff",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
    },
)

LIGHT: Final = Theme(
    name="samedeal-light",
    ansi=True,
    dark=False,
    primary="#0969da",
    secondary="#8250df",
    accent="#9a6700",
    warning="#9a6700",
    error="#cf222e",
    success="#0a7a20",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "border": "#0969da",
        "border-blurred": "#afb8c1",
        "text-muted": "#57606a",
        "text-disabled": "#6e7781",
        "block-cursor-background": "#a5d8ff",
        "block-cursor-foreground": "#000000",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#e6eaef",
        "block-cursor-blurred-foreground": "#000000",
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": "#e6eaef",
        "ansi-background": "#e6eaef",
        "ansi-foreground": "#1f2328",
        "footer-key-foreground": "#0969da",
        "footer-description-foreground": "#57606a",
        "input-cursor-background": "#1f2328",
        "input-cursor-foreground": "#ffffff",
        "input-cursor-text-style": "none",
        "input-selection-background": "#a5d8ff",
        "input-selection-foreground": "#000000",
        "scrollbar": "#afb8c1",
        "scrollbar-hover": "#8c959f",
        "scrollbar-active": "#0969da",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
    },
)

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

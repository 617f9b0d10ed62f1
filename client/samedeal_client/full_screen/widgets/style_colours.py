"""The names of styles with their colours, and the conversion of rows to Textual's strips.

Text has the terminal's own colours unless it lies on felt or its style sets others. Even on a terminal with 16 colours,
the main marks on cards (``source``, ``target``, ``hint``, ``found``) differ in background from each other and from plain
cards. Important styles also have an attribute (reverse, underline, bold), because a terminal may have no colours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, row_width


class Paint(NamedTuple):
    """A style: attributes, and the colours of text and background on a dark and on a light terminal.

    ``plain`` are the attributes on a terminal without colour, if they are others.
    """

    attributes: str = ""
    dark: str = ""
    light: str = ""
    dark_background: str = ""
    light_background: str = ""
    plain: str = ""


_INK: Final = "color(234)"
"""The colour of black suits. Colours of the 256-colour palette have the shortest codes, and cards are redrawn often."""


def _on_card(colour: str, background: str = "", attributes: str = "", plain: str = "") -> Paint:
    """Return the paint of a card, which is the same in dark and light terminals."""
    return Paint(attributes, colour, colour, background, background, plain)


PAINTS: Final[dict[str, Paint]] = {
    # suits; the last two only with four colours
    "red": Paint("", "#ff7b72", "#cf222e"),
    "black": Paint(),
    "diamond": Paint("", "#79c0ff", "#0969da"),
    "club": Paint("", "#7ee787", "#0a7a20"),
    # face down, face down but already seen, name of a pile, empty pile, number of cards left out
    "hidden": Paint("", "#8b949e", "#8c959f", plain="dim"),
    "seen": Paint("italic", "#8b949e", "#6e7781"),
    "pile": Paint("", "#ccd4da", "#57606a", plain="dim"),
    "empty": Paint("", "#ccd4da", "#8c959f", plain="dim"),
    "more": Paint("", "#d29922", "#9a6700"),
    # cards: movable, covered, face down; what is printed on a card
    "paper": _on_card(_INK, "color(231)", plain="reverse"),
    "buried": _on_card(_INK, "color(254)", plain="reverse dim"),
    "back": _on_card("#6f93d6", "#1d3f9e", plain="dim"),
    "red-card": _on_card("color(124)"),
    "black-card": _on_card(_INK),
    "diamond-card": _on_card("color(20)"),
    "club-card": _on_card("color(22)"),
    "seen-card": _on_card("#d6e0f5", "", "italic", plain="italic not dim"),
    # marks and the edge between two cards, added to a card's own style
    "source": _on_card(_INK, "color(222)", plain="bold not reverse not dim"),
    "target": _on_card(_INK, "#8fe88f", plain="bold underline"),
    "partial": _on_card(_INK, "color(194)", plain="underline"),
    "last": _on_card(_INK, "color(153)"),
    "found": _on_card(_INK, "color(219)", plain="bold underline"),
    "hint": _on_card(_INK, "color(87)", plain="bold underline"),
    "edge": _on_card("color(248)"),
    # pictures of court cards
    "gold": _on_card("color(178)"),
    "skin": _on_card("color(223)"),
    "hair": _on_card("color(130)"),
    "on-gold": _on_card("", "color(178)"),
    "on-skin": _on_card("", "color(223)"),
    "on-hair": _on_card("", "color(130)"),
    "on-red": _on_card("", "color(124)"),
    "on-black": _on_card("", _INK),
    "on-diamond": _on_card("", "color(20)"),
    "on-club": _on_card("", "color(22)"),
    # added to a card's style: the text has the colour of the card, and lies on the table
    "cut-out": Paint(),
    "label": Paint("", "#aeb6bf", "#57606a", plain="dim"),
    "count": Paint(),
    "title": Paint("bold"),
    "notice": Paint("bold", "#e3b341", "#9a6700"),
    "alarm": Paint("bold", "#ffffff", "#ffffff", "#b62324", "#cf222e", plain="bold reverse"),
    "name": Paint(),
    "you": Paint("bold", "#58a6ff", "#0969da"),
    "away": Paint("italic", "#8b949e", "#57606a"),
    "bar": Paint("", "#3fb950", "#0a7a20"),
    "rest": Paint("", "#484f58", "#afb8c1", plain="dim"),
    "axis": Paint("", "#8b949e", "#57606a"),
    # controls: key, value, selected; results: good, bad
    "key": Paint("bold", "#79c0ff", "#0969da"),
    "field": Paint("underline"),
    "selected": Paint("bold", "", "", "#10307a", "#a5d8ff"),
    "good": Paint("", "#3fb950", "#0a7a20"),
    "bad": Paint("bold", "#ff7b72", "#cf222e"),
    # the curves of a plot
    "line1": Paint("", "#58a6ff", "#0969da"),
    "line2": Paint("", "#f0883e", "#bc4c00"),
    "line3": Paint("", "#3fb950", "#0a7a20"),
    "line4": Paint("", "#d2a8ff", "#8250df"),
}
"""The paint of each style. The style of a span may combine several names."""

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
    paint = PAINTS[name]
    if not look.colour:
        return Style.parse(paint.plain or paint.attributes)
    colour, background = (paint.dark, paint.dark_background) if look.dark else (paint.light, paint.light_background)
    return Style.parse(paint.attributes) + Style(color=colour or None, bgcolor=background or None)


@lru_cache(maxsize=8192)
def strip_of(row: Row, look: Look) -> Strip:
    """Return a row as a strip for Textual."""
    return Strip([Segment(text, style_of(names, look)) for text, names in row if text], row_width(row))

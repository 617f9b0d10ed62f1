"""The colours behind the style names of ``look.STYLES``, on a dark or a light terminal; and rows as strips of a screen.

The terminal's own background and text colour are kept. The colours are chosen so that a terminal of sixteen still has others
for marks than for the ground. What matters is also told by an attribute (reversed, underlined,
bold), so that it is seen on a terminal with few colours; without colour attributes are all there is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from samedeal_client.text.look import STYLES, Look
from samedeal_client.text.spans import Row, row_width


class Paint(NamedTuple):
    """How a style name looks: attributes, colours on a dark and on a light terminal, and the same two for the ground."""

    attributes: str = ""
    dark: str = ""
    light: str = ""
    dark_ground: str = ""
    light_ground: str = ""


PAINTS: Final[dict[str, Paint]] = {
    "red": Paint("", "#ff7b72", "#cf222e"),
    "black": Paint(),
    "diamond": Paint("", "#79c0ff", "#0969da"),
    "club": Paint("", "#7ee787", "#0a7a20"),
    "hidden": Paint("", "#6e7681", "#8c959f"),
    "seen": Paint("italic", "#8b949e", "#6e7781"),
    "empty": Paint("", "#6e7681", "#8c959f"),
    "more": Paint("", "#d29922", "#9a6700"),
    "under": Paint("dim"),
    "top": Paint("bold"),
    "source": Paint("bold", "", "", "#6b4f00", "#ffdf8a"),
    "target": Paint("bold underline", "", "", "#006000", "#b9ecc6"),
    "last": Paint("", "", "", "#30363d", "#d0d4d9"),
    "found": Paint("bold", "#ffffff", "#ffffff", "#8250df", "#8250df"),
    "hint": Paint("bold", "#ffffff", "#ffffff", "#1f6feb", "#0969da"),
    "label": Paint("", "#8b949e", "#57606a"),
    "count": Paint(),
    "title": Paint("bold"),
    "notice": Paint("bold", "#e3b341", "#9a6700"),
    "name": Paint(),
    "you": Paint("bold", "#58a6ff", "#0969da"),
    "away": Paint("italic", "#8b949e", "#57606a"),
    "bar": Paint("", "#3fb950", "#0a7a20"),
    "rest": Paint("", "#484f58", "#afb8c1"),
    "spark": Paint("", "#58a6ff", "#0969da"),
    "axis": Paint("", "#8b949e", "#57606a"),
    "key": Paint("bold", "#79c0ff", "#0969da"),
    "field": Paint("underline"),
    "selected": Paint("bold", "", "", "#10307a", "#a5d8ff"),
    "good": Paint("", "#3fb950", "#0a7a20"),
    "bad": Paint("bold", "#ff7b72", "#cf222e"),
    "line1": Paint("", "#58a6ff", "#0969da"),
    "line2": Paint("", "#f0883e", "#bc4c00"),
    "line3": Paint("", "#3fb950", "#0a7a20"),
    "line4": Paint("", "#d2a8ff", "#8250df"),
}

_COLOURLESS: Final = {
    "source": "bold reverse",
    "target": "bold underline",
    "found": "bold reverse",
    "hint": "bold underline",
    "last": "",
    "you": "bold",
    "rest": "dim",
    "label": "dim",
    "hidden": "dim",
    "empty": "dim",
}
"""Attributes of style names where there is no colour, if they differ."""


@lru_cache(maxsize=1024)
def style_of(names: str, look: Look) -> Style:
    """The style of one or more names with spaces between; of two that say the same a later one prevails."""
    style = Style.null()
    for name in names.split():
        style += _style(name, look)
    return style


def _style(name: str, look: Look) -> Style:
    if name not in STYLES:
        raise ValueError(f"there is no style {name!r}")
    paint = PAINTS[name]
    if not look.colour:
        return Style.parse(_COLOURLESS.get(name, paint.attributes))
    colour, ground = (paint.dark, paint.dark_ground) if look.dark else (paint.light, paint.light_ground)
    return Style.parse(paint.attributes) + Style(color=colour or None, bgcolor=ground or None)


@lru_cache(maxsize=8192)
def strip_of(row: Row, look: Look) -> Strip:
    """A row as a strip of a screen."""
    return Strip([Segment(text, style_of(names, look)) for text, names in row if text], row_width(row))

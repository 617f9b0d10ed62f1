"""Containers that are there only for what is in them.

Everything that stands around a widget is asked for its lines too whenever the widget changes. What shows nothing of its own
has them at hand, which spares Textual's search for the colour beneath.
"""

from __future__ import annotations

from functools import lru_cache

from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip


class Blank(Container):
    """A container with nothing of its own to be seen, neither ground nor border nor padding."""

    DEFAULT_CSS = "Blank { background: transparent; }"

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines for the screen."""
        return blank_lines(crop)


def blank_lines(crop: Region) -> list[Strip]:
    """Lines in the terminal's own ground."""
    return _blanks(crop.width, crop.height)


@lru_cache(maxsize=64)
def _blanks(width: int, height: int) -> list[Strip]:
    return [Strip.blank(width)] * height

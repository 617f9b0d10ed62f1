"""A container that draws nothing itself.

Textual also asks the containers of a changed widget for their lines. These are blank and cached, which saves Textual the
search for the background colour.
"""

from __future__ import annotations

from functools import lru_cache

from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip


class PlainContainer(Container):
    """A container without background, border or padding."""

    DEFAULT_CSS = "PlainContainer { background: transparent; }"

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines that Textual draws."""
        return blank_lines(crop)


def blank_lines(crop: Region) -> list[Strip]:
    """Blank lines with the terminal's own background."""
    return _blanks(crop.width, crop.height)


@lru_cache(maxsize=64)
def _blanks(width: int, height: int) -> list[Strip]:
    return [Strip.blank(width)] * height

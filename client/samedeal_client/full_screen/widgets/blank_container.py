"""A container that draws nothing itself.

Textual also asks the containers of a changed widget for their lines. These lines are blank and cached, so that Textual
need not search for the background colour.
"""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style
from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip


class PlainContainer(Container):
    """A container without border or padding. Its background is ``blank_style`` if set, and the terminal's otherwise."""

    DEFAULT_CSS = "PlainContainer { background: transparent; }"

    blank_style: Style | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of the region ``crop``, for Textual to draw."""
        return blank_lines(crop, self.blank_style)


def blank_lines(crop: Region, style: Style | None = None) -> list[Strip]:
    """Return blank lines with the background of ``style``. Without a style, they have the terminal's background."""
    return _blanks(crop.width, crop.height, style)


@lru_cache(maxsize=64)
def _blanks(width: int, height: int, style: Style | None) -> list[Strip]:
    return [Strip.blank(width, style)] * height

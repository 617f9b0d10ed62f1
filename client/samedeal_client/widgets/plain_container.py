"""A container that draws nothing itself.

Textual also asks the containers of a changed widget for their lines. These are blank and cached, which saves Textual the
search for the background colour.
"""

from __future__ import annotations

from functools import lru_cache

from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip

from samedeal_client.text.appearance import Look
from samedeal_client.widgets.theme import style_of


class PlainContainer(Container):
    """A container without border or padding. Its background is that of the terminal, unless it has a look with felt."""

    DEFAULT_CSS = "PlainContainer { background: transparent; }"

    look: Look | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines that Textual draws."""
        return blank_lines(crop, self.look)


def blank_lines(crop: Region, look: Look | None = None) -> list[Strip]:
    """Blank lines with the background of a look, or otherwise of the terminal."""
    return _blanks(crop.width, crop.height, look)


@lru_cache(maxsize=64)
def _blanks(width: int, height: int, look: Look | None) -> list[Strip]:
    return [Strip.blank(width, style_of("", look) if look is not None and look.felt else None)] * height

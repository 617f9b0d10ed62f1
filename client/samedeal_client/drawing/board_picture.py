"""A drawn board: rows of styled text, and the piles and cards at each position.

A board is divided into regions: the top rows, the reserve, and each column and fan. A client can have a widget for each
region and redraw only the regions that change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from samedeal_client.drawing.layout import Rect
from samedeal_client.text.spans import Row, Span


class HitTarget(NamedTuple):
    """The pile and the card at a position of the screen.

    ``card`` is the card's index, counted from the deepest, or None if the position is on the pile but not on a card.
    ``collapsed`` is the number of cards that the sign for collapsed cards stands for, if the position is on that sign.
    """

    pile: str
    card: int | None = None
    collapsed: int = 0


class HitArea(NamedTuple):
    """The rectangle of a hit target, relative to its region."""

    x: int
    y: int
    width: int
    height: int
    target: HitTarget


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a board. Each row is exactly ``place.width`` wide, and there are at most ``place.height`` rows."""

    name: str
    place: Rect
    rows: tuple[Row, ...]
    hit_areas: tuple[HitArea, ...]

    def hit(self, x: int, y: int) -> HitTarget | None:
        """Return the hit target at a position relative to the region's corner, or None if there is no pile."""
        for area in self.hit_areas:
            if area.x <= x < area.x + area.width and area.y <= y < area.y + area.height:
                return area.target
        return None


@dataclass(frozen=True)
class BoardPicture:
    """A drawing of a whole board, made of its regions."""

    regions: tuple[Region, ...]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the board. A row ends where its rightmost region ends."""
        height = max(region.place.y + len(region.rows) for region in self.regions)
        rows: list[Row] = []
        for y in range(height):
            spans: list[Span] = []
            x = 0
            for region in sorted(self.regions, key=lambda region: region.place.x):
                place = region.place
                line = y - place.y
                if 0 <= line < len(region.rows):
                    if place.x > x:
                        spans.append(Span(" " * (place.x - x)))
                    spans += region.rows[line]
                    x = place.x + place.width
            rows.append(tuple(spans))
        return tuple(rows)

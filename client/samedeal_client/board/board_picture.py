"""A drawn board: rows of styled text, and the piles and cards at each position.

A board is divided into regions: the top rows, the reserve, and each column and fan. A client can have a widget for each
region and redraw only the regions that change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from samedeal_client.board.layout import Rect
from samedeal_client.text.spans import Row, Span, fit_row, row_width


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


class Canvas:
    """Rows under construction. In each row, spans are added from left to right."""

    def __init__(self, height: int) -> None:
        self._rows: list[list[Span]] = [[] for _ in range(height)]
        self._ends = [0] * height
        self.areas: list[HitArea] = []

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows so far. A row ends where its last span ends."""
        return tuple(map(tuple, self._rows))

    def put(self, x: int, y: int, rows: Iterable[Row]) -> None:
        """Add rows with their left upper corner at column ``x`` and row ``y``."""
        for line, row in enumerate(rows, y):
            if x > self._ends[line]:
                self._rows[line].append(Span(" " * (x - self._ends[line])))
            self._rows[line] += row
            self._ends[line] = x + row_width(row)

    def region(self, name: str, place: Rect) -> Region:
        """Return the rows as a region, filled with blanks up to its width."""
        rows = tuple(fit_row(row, place.width) for row in self.rows)
        return Region(name, place, rows, tuple(self.areas))


@dataclass(frozen=True)
class BoardPicture:
    """A drawing of a whole board, made of its regions."""

    regions: tuple[Region, ...]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the board. A row ends where its rightmost region ends."""
        canvas = Canvas(max(region.place.y + len(region.rows) for region in self.regions))
        for region in sorted(self.regions, key=lambda region: region.place.x):
            canvas.put(region.place.x, region.place.y, region.rows)
        return canvas.rows

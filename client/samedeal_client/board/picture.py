"""A board drawn: rows of styled text, and what lies where on them.

A picture is made of parts, one for the top line, the reserve, and each column and fan, so that a client can keep a widget
for each and draw one alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from samedeal_client.board.layout import Rect
from samedeal_client.text.spans import Row, Span, row_text


class Hit(NamedTuple):
    """What lies at a place of the screen: a pile, and a card of it by its place from the deepest, or None for the pile.

    ``covered`` is how many cards the sign for cards too deep to show stands for, where that was hit.
    """

    pile: str
    card: int | None = None
    covered: int = 0


class Spot(NamedTuple):
    """Where in its part something lies."""

    x: int
    y: int
    width: int
    height: int
    hit: Hit


@dataclass(frozen=True, slots=True)
class Part:
    """A region of a picture: each row exactly as wide as its place, and no more rows than that is high."""

    name: str
    place: Rect
    rows: tuple[Row, ...]
    spots: tuple[Spot, ...]

    def hit(self, x: int, y: int) -> Hit | None:
        """What lies at a column and row of the part, counted from its own corner."""
        for spot in self.spots:
            if spot.x <= x < spot.x + spot.width and spot.y <= y < spot.y + spot.height:
                return spot.hit
        return None


@dataclass(frozen=True)
class Picture:
    """A board as it is shown; ``covered`` cards aside, every card that lies face up is somewhere on it."""

    parts: tuple[Part, ...]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The whole picture; each row ends where its last part does."""
        height = max(part.place.y + len(part.rows) for part in self.parts)
        rows: list[Row] = []
        for y in range(height):
            spans: list[Span] = []
            x = 0
            for part in self.parts:
                place = part.place
                line = y - place.y
                if 0 <= line < len(part.rows):
                    if place.x > x:
                        spans.append(Span(" " * (place.x - x)))
                    spans += part.rows[line]
                    x = place.x + place.width
            rows.append(tuple(spans))
        return tuple(rows)

    def text(self) -> str:
        """The picture without styles, lines without blanks at their ends."""
        return "\n".join(row_text(row).rstrip() for row in self.rows) + "\n"

    def hit(self, x: int, y: int) -> Hit | None:
        """What lies at a column and a row, None between the piles."""
        for part in self.parts:
            place = part.place
            if place.x <= x < place.x + place.width and place.y <= y < place.y + place.height:
                return part.hit(x - place.x, y - place.y)
        return None

    def where(self, pile: str, card: int | None = None) -> tuple[int, int] | None:
        """The column and row at which a card of a pile, or the pile, is found; None for a card that is not shown."""
        wanted = Hit(pile, card)
        for part in self.parts:
            for spot in part.spots:
                if spot.hit == wanted:
                    return part.place.x + spot.x, part.place.y + spot.y
        return None

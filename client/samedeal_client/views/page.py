"""The body of a screen as rows of text, with places that can be clicked.

What a click does is a text of the screen's own, as ``choose friday``; its keys do the same things.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from samedeal.names import columns_of
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, cut, fit_row, row_text, wrap


class Link(NamedTuple):
    """A piece of text that can be clicked, and what that does."""

    text: str
    style: str
    does: str


class Area(NamedTuple):
    """A part of a row that can be clicked."""

    x: int
    y: int
    width: int
    does: str


Piece: TypeAlias = Span | Link


class KeyWord(NamedTuple):
    """A key for the line at the bottom: its name, as ``bindings.NAMED_KEYS`` has it, its word, and how it is written.

    An empty label is for the key as ``key_names`` writes it.
    """

    key: str
    word: str
    label: str = ""


@dataclass(frozen=True)
class View:
    """A body: ``rows`` as many and as wide as asked for; a later area lies over an earlier one.

    ``scroll`` is how many rows lie above it, ``beyond`` how many below.
    """

    rows: tuple[Row, ...]
    areas: tuple[Area, ...] = ()
    scroll: int = 0
    beyond: int = 0

    def hit(self, x: int, y: int) -> str | None:
        """What a click at a column and a row does, None for nothing."""
        for area in reversed(self.areas):
            if area.y == y and area.x <= x < area.x + area.width:
                return area.does
        return None

    def where(self, does: str) -> tuple[int, int] | None:
        """A column and a row where a click does something; None where none does."""
        return next(((area.x, area.y) for area in self.areas if area.does == does), None)

    def text(self) -> str:
        """The body without styles, lines without blanks at their ends."""
        return "\n".join(row_text(row).rstrip() for row in self.rows) + "\n"


class Page:
    """A body under construction: rows of any number, and a foot that is always in sight."""

    def __init__(self, look: Look, width: int) -> None:
        self.look = look
        self.width = width
        self._body: list[tuple[Row, tuple[Area, ...]]] = []
        self._foot: list[tuple[Row, tuple[Area, ...]]] = []
        self._chosen = 0

    @property
    def height(self) -> int:
        """How many rows there are, the foot left out."""
        return len(self._body)

    def add(self, *pieces: Piece, does: str = "", chosen: bool = False) -> None:
        """Add a row; ``does`` is what a click anywhere else on it does. A ``chosen`` one is marked, and kept in sight."""
        if chosen:
            self._chosen = len(self._body)
            left = self.width - sum(columns_of(piece.text) for piece in pieces)
            marked = [piece._replace(style=f"{piece.style} selected".strip()) for piece in pieces]
            pieces = (*marked, Span(" " * max(left, 0), "selected"))
        self._body.append(self._row(pieces, does))

    def rows(self, rows: Iterable[Row]) -> None:
        """Add rows of text."""
        for row in rows:
            self.add(*row)

    def blank(self) -> None:
        """Add an empty row."""
        self.add()

    def paragraph(self, text: str, style: str = "", indent: int = 2) -> None:
        """Add a text in as many rows as it takes."""
        for line in wrap(text, self.width - indent - 1):
            self.add(Span(" " * indent), Span(line, style))

    def rule(self) -> None:
        """Add a line across."""
        self.add(Span(self.look.glyphs.rest * self.width, "axis"))

    def foot(self, *pieces: Piece) -> None:
        """Add a row to the foot."""
        self._foot.append(self._row(pieces, ""))

    def _row(self, pieces: Iterable[Piece], does: str) -> tuple[Row, tuple[Area, ...]]:
        row: list[Span] = []
        areas = [Area(0, 0, self.width, does)] if does else []
        x = 0
        for piece in pieces:
            text = cut(piece.text, self.width - x, self.look.glyphs.ellipsis) if x < self.width else ""
            if isinstance(piece, Link) and text:
                areas.append(Area(x, 0, columns_of(text), piece.does))
            row.append(Span(text, piece.style))
            x += columns_of(text)
            if text != piece.text:
                break
        return fit_row(tuple(row), self.width), tuple(areas)

    def _with_more(self, row: Row, rows: int) -> Row:
        """A last row that says at its end how many lie below."""
        more = f" {self.look.glyphs.ellipsis} {rows} more "
        return (*fit_row(row, self.width - len(more)), Span(more, "more"))

    def view(self, height: int, scroll: int | None = None, *, signed: bool = True) -> View:
        """The body in ``height`` rows, scrolled as far as it can be; without ``scroll`` the chosen row is in sight.

        Where it is ``signed``, the last row says how many lie below it.
        """
        room = max(height - len(self._foot), 0)
        hidden = max(len(self._body) - room, 0)
        first = max(min(self._chosen - room // 2 if scroll is None else scroll, hidden), 0)
        body = self._body[first : first + room]
        body += [self._row((), "")] * (room - len(body))
        if signed and scroll is not None and first < hidden and body:
            row, areas = body[-1]
            body[-1] = (self._with_more(row, hidden - first), areas)
        shown = [*body, *self._foot][:height]
        return View(
            tuple(row for row, _ in shown),
            tuple(area._replace(y=y) for y, (_, areas) in enumerate(shown) for area in areas),
            first,
            hidden - first,
        )

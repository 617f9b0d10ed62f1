"""The body of a screen: rows of text with clickable areas.

An action is a string that the screen interprets, such as ``choose friday``. Keys trigger the same actions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from samedeal.terminal_text import columns_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, cut, fit_row, row_text


class ClickableText(NamedTuple):
    """A piece of text that triggers an action when clicked."""

    text: str
    style: str
    action: str


class ClickArea(NamedTuple):
    """The part of a row that triggers an action when clicked."""

    x: int
    y: int
    width: int
    action: str


RowPart: TypeAlias = Span | ClickableText


class FooterKey(NamedTuple):
    """A key in the footer with its description.

    ``key`` is a name from ``bindings.NAMED_KEYS``. ``label`` is shown instead of the name that ``key_names`` gives the key.
    """

    key: str
    description: str
    label: str = ""


@dataclass(frozen=True)
class View:
    """The visible part of a page.

    Later areas lie over earlier ones. ``scroll`` is the number of rows above the visible part, ``rows_below`` the number
    below it.
    """

    rows: tuple[Row, ...]
    areas: tuple[ClickArea, ...] = ()
    scroll: int = 0
    rows_below: int = 0

    def action_at(self, x: int, y: int) -> str | None:
        """Return the action that a click at a column and a row triggers, or None if it triggers none."""
        for area in reversed(self.areas):
            if area.y == y and area.x <= x < area.x + area.width:
                return area.action
        return None

    def position_of(self, action: str) -> tuple[int, int] | None:
        """Return a column and a row at which a click triggers ``action``, or None if there is no such place."""
        return next(((area.x, area.y) for area in self.areas if area.action == action), None)

    def text(self) -> str:
        """The text without styles and without spaces at the ends of lines."""
        return "\n".join(row_text(row).rstrip() for row in self.rows) + "\n"


class Page:
    """Builds a view of any number of rows."""

    def __init__(self, look: Look, width: int) -> None:
        self.look = look
        self.width = width
        self._body: list[tuple[Row, tuple[ClickArea, ...]]] = []

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self._body)

    def add_row(self, *parts: RowPart, action: str = "") -> None:
        """Add a row. ``action`` is triggered by clicks outside its clickable parts."""
        self._body.append(self._row(parts, action))

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add rows of text."""
        for row in rows:
            self.add_row(*row)

    def add_blank(self) -> None:
        """Add an empty row."""
        self.add_row()

    def add_rule(self) -> None:
        """Add a horizontal line."""
        self.add_row(Span(self.look.glyphs.rest * self.width, "axis"))

    def _row(self, parts: Iterable[RowPart], action: str) -> tuple[Row, tuple[ClickArea, ...]]:
        row: list[Span] = []
        areas = [ClickArea(0, 0, self.width, action)] if action else []
        x = 0
        for part in parts:
            text = cut(part.text, self.width - x, self.look.glyphs.ellipsis) if x < self.width else ""
            if isinstance(part, ClickableText) and text:
                areas.append(ClickArea(x, 0, columns_of(text), part.action))
            row.append(Span(text, part.style))
            x += columns_of(text)
            if text != part.text:
                break
        return fit_row(tuple(row), self.width), tuple(areas)

    def _with_more(self, row: Row, rows: int) -> Row:
        """A last row that ends with the number of rows below it."""
        more = f" {self.look.glyphs.ellipsis} {rows} more line{'s' if rows != 1 else ''} "
        return (*fit_row(row, self.width - len(more)), Span(more, "more"))

    def view(self, height: int, scroll: int = 0, *, count_below: bool = True) -> View:
        """The page in ``height`` rows. With ``count_below`` the last row ends with the number of rows below it."""
        hidden = max(len(self._body) - height, 0)
        first = max(min(scroll, hidden), 0)
        body = self._body[first : first + height]
        body += [self._row((), "")] * (height - len(body))
        if count_below and first < hidden and body:
            row, areas = body[-1]
            body[-1] = (self._with_more(row, hidden - first), areas)
        return View(
            tuple(row for row, _ in body),
            tuple(area._replace(y=y) for y, (_, areas) in enumerate(body) for area in areas),
            first,
            hidden - first,
        )

"""Rows of styled text as a widget: only rows that changed are drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from samedeal_client.look import Look
from samedeal_client.spans import Row
from samedeal_client.widgets.theme import strip_of


class Rows(Widget):
    """A block of rows. A click on it is told as ``Clicked``, with the column and row that was hit."""

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = "Rows { background: transparent; }"

    class Clicked(Message):
        """A mouse button went down on a row; counted from the block's corner, ``times`` for double clicks."""

        def __init__(self, rows: Rows, x: int, y: int, times: int) -> None:
            super().__init__()
            self.rows = rows
            self.x = x
            self.y = y
            self.times = times

        @property
        def control(self) -> Rows:
            """The block that was clicked."""
            return self.rows

    def __init__(self, look: Look, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id, classes=classes)
        self.look = look
        self.rows: tuple[Row, ...] = ()

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows, the first at the top."""
        before, self.rows = self.rows, tuple(rows)
        width = self.size.width
        changed = [
            Region(0, y, width, 1)
            for y in range(max(len(before), len(self.rows)))
            if (before[y] if y < len(before) else None) != (self.rows[y] if y < len(self.rows) else None)
        ]
        if changed and width:
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """One line for the screen."""
        if y >= len(self.rows):
            return Strip.blank(self.size.width)
        return strip_of(self.rows[y], self.look).adjust_cell_length(self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Tell where it was clicked."""
        self.post_message(self.Clicked(self, event.x, event.y, event.chain))

"""A view as a widget: drawn for the size it has, and telling what was clicked on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.message import Message

from samedeal_client.text.look import Look
from samedeal_client.views.page import View
from samedeal_client.widgets.rows import Rows


class Sheet(Rows):
    """A view. ``draw`` makes it for a width and a height; ``redraw`` has that done again."""

    DEFAULT_CSS: ClassVar[str] = "Sheet { background: transparent; width: 1fr; height: 1fr; }"

    class Pressed(Message):
        """Something that does something was clicked: what that is."""

        def __init__(self, does: str) -> None:
            super().__init__()
            self.does = does

    class Wheeled(Message):
        """The wheel was turned by so many rows, down if they are more than none."""

        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, look: Look, draw: Callable[[int, int], View], *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(look, id=id)
        self._draw = draw
        self.view = View(())

    def redraw(self) -> None:
        """Show the view as it is now."""
        width, height = self.size
        if width and height:
            self.view = self._draw(width, height)
            self.show(self.view.rows)

    def on_resize(self) -> None:
        """Draw it for the new size."""
        self.redraw()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Tell what was clicked."""
        does = self.view.hit(event.x, event.y)
        if does is not None:
            self.post_message(self.Pressed(does))

    def on_mouse_scroll_down(self) -> None:
        """Tell of the wheel."""
        self.post_message(self.Wheeled(3))

    def on_mouse_scroll_up(self) -> None:
        """Tell of the wheel."""
        self.post_message(self.Wheeled(-3))

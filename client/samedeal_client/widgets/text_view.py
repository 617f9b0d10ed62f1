"""A widget that draws a view to fit its own size and reports clicks."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.message import Message

from samedeal_client.text.appearance import Look
from samedeal_client.views.screen_body import View
from samedeal_client.widgets.rows_widget import Rows


class TextView(Rows):
    """A widget that shows a ``View``. ``draw`` makes the view for a width and a height."""

    DEFAULT_CSS: ClassVar[str] = "TextView { background: transparent; width: 1fr; height: 1fr; }"

    class Pressed(Message):
        """A text with an action was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Wheeled(Message):
        """A turn of the mouse wheel by a number of rows, negative for up."""

        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, look: Look, draw: Callable[[int, int], View], *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(look, id=id)
        self._draw = draw
        self.view = View(())

    def redraw(self) -> None:
        """Draw the view again."""
        width, height = self.size
        if width and height:
            self.view = self._draw(width, height)
            self.show(self.view.rows)

    def on_resize(self) -> None:
        """Draw the view in the new size."""
        self.redraw()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Post the action of the text that was clicked."""
        action = self.view.action_at(event.x, event.y)
        if action is not None:
            self.post_message(self.Pressed(action))

    def on_mouse_scroll_down(self) -> None:
        """Post a turn of the wheel."""
        self.post_message(self.Wheeled(3))

    def on_mouse_scroll_up(self) -> None:
        """Post a turn of the wheel."""
        self.post_message(self.Wheeled(-3))

"""A row with a slider that the mouse can move."""

from __future__ import annotations

from textual import events
from textual.message import Message

from samedeal_client.full_screen.widgets.rows_widget import Rows


class Slider(Rows):
    """A row that posts ``Moved`` when it is clicked, and while the mouse is dragged over it."""

    class Moved(Message):
        """The mouse moved the slider to cell ``x``."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag, and move the slider to the mouse."""
        self.capture_mouse()
        self.post_message(self.Moved(event.x))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """During a drag, move the slider to the mouse."""
        if self.app.mouse_captured is self:
            self.post_message(self.Moved(event.x))

    def on_mouse_up(self) -> None:
        """End dragging."""
        self.release_mouse()

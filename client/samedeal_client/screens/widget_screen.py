"""A screen made of Textual's own widgets and the client's header. Keys are bindings, which Textual's footer shows."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from samedeal_client.drawing.layout import Size
from samedeal_client.screens.base import ClientScreen
from samedeal_client.text.spans import Row
from samedeal_client.widgets.fitting_footer import FittingFooter
from samedeal_client.widgets.themes import lines_of


class WidgetScreen(ClientScreen):
    """A screen with Textual's widgets between the client's header and Textual's footer."""

    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (76, "-normal"), (110, "-wide")]  # type: ignore[misc]  # as in Screen
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-low"), (32, "-high")]  # type: ignore[misc]  # as in Screen

    def compose_footer(self) -> ComposeResult:
        """Yield a line for messages above Textual's footer."""
        self._sentence = Static(id="sentence")
        yield Vertical(self._sentence, FittingFooter(), id="footer", classes="widgets")

    def show_footer(self, width: int) -> None:
        """Show the message, or the prompt. Textual's footer shows the keys."""
        text = lines_of(self._message_rows(width), self.look)
        if text != self._sentence.content:
            self._sentence.update(text)

    def minimum_size(self) -> Size:
        """Return the smallest size in which all widgets can be used."""
        return Size(60, 19)

    def prompt_row(self) -> Row:
        """Return a row that names the task that the screen is busy with."""
        return self.busy_row()

    def on_key(self, event: events.Key) -> None:
        """Leave keys to the bindings of the screen on top. For a key without a binding, show a message.

        While the window is too small, keys do nothing.
        """
        event.prevent_default()
        if self.has_class("small"):
            event.stop()
        elif self.on_top and event.key not in self.active_bindings:
            self.show_unknown_key(
                event.character if event.key != "space" and event.character and event.is_printable else event.key
            )

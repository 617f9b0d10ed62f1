"""A screen whose body is one text view. Each clickable part of the text does the same as some key."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult

from samedeal_client.drawing.layout import Size
from samedeal_client.screens.base import ClientScreen
from samedeal_client.state.model import Model
from samedeal_client.views.screen_body import View
from samedeal_client.widgets.text_view import TextView

_SCROLLS: Final = {"up": -1, "down": 1}
_PAGES: Final = {"pageup": -1, "pagedown": 1}
_ALL_ROWS: Final = 10**6


class TextScreen(ClientScreen):
    """A screen that draws a ``View``. ``scroll_rows`` is how far it is scrolled down.

    ``text_view`` is an attribute because an answer of the server may arrive while the screen is being removed. Then
    Textual no longer finds the widget.
    """

    text_view: TextView

    def __init__(self) -> None:
        super().__init__()
        self.scroll_rows = 0

    def draw(self, width: int, height: int) -> View:
        """The view in a size."""
        raise NotImplementedError

    def apply_key(self, key: str) -> bool:
        """Handle a key: a character, or a name as in ``bindings.NAMED_KEYS``. Return whether it has a meaning."""
        raise NotImplementedError

    def perform(self, action: str) -> None:
        """Run the action of the part of the text that was clicked."""

    def compose_body(self) -> ComposeResult:
        """The view."""
        self.text_view = TextView(self.look, self.draw, id="text-view")
        yield self.text_view

    def minimum_size(self) -> Size:
        """The size that the views are made for."""
        return Size(60, 19)

    def redraw(self) -> None:
        """Draw the view and the frame again."""
        if self._ready:
            self.text_view.redraw()
            self.show_frame()

    def on_model_changed(self, before: Model, after: Model) -> None:  # noqa: ARG002 (the signature of all screens)
        """Show what has changed."""
        self.text_view.redraw()

    def on_tick(self) -> None:
        """Update what depends on the clock."""
        self.text_view.redraw()

    def press(self, key: str) -> None:
        """Handle a key and show the result."""
        if not self.apply_key(" " if key == "space" else key):
            self.show_unknown_key(key)
        self.redraw()

    def on_text_view_pressed(self, event: TextView.Pressed) -> None:
        """Run the action that was clicked."""
        event.stop()
        self.perform(event.action)
        self.redraw()

    def on_text_view_wheeled(self, event: TextView.Wheeled) -> None:
        """Scroll."""
        event.stop()
        self.scroll_by(event.rows)

    def scroll_by(self, rows: int) -> None:
        """Scroll down by a number of rows, or up if it is negative, within the view."""
        view = self.text_view.view
        self.scroll_rows = max(0, min(view.scroll + rows, view.scroll + view.rows_below))
        self.redraw()

    def scroll_by_key(self, key: str) -> bool:
        """Scroll if the key is a scroll key. Return whether it is one."""
        page = max(self.text_view.size.height - 4, 1)
        if key in _SCROLLS:
            self.scroll_by(_SCROLLS[key])
        elif key in _PAGES:
            self.scroll_by(_PAGES[key] * page)
        elif key in ("home", "end"):
            self.scroll_by(-_ALL_ROWS if key == "home" else _ALL_ROWS)
        else:
            return False
        return True

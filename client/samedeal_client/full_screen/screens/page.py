"""A page of text over another screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from samedeal_client.full_screen.screens.look_screen import DialogScreen
from samedeal_client.full_screen.widgets.footer import ScreenKeys
from samedeal_client.full_screen.widgets.themes import lines_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row


class PageScreen(DialogScreen[None]):
    """A page that can be scrolled. ``write`` returns its rows for a look and a width."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "scroll('page_down')", "scroll"),
        Binding("escape,q,f1,question_mark", "dismiss", "back"),
    ]

    def __init__(self, title: str, write: Callable[[Look, int], Iterable[Row]]) -> None:
        super().__init__()
        self._title = title
        self._write = write

    def compose(self) -> ComposeResult:
        """Yield the page."""
        self._text = Static()
        page = VerticalScroll(self._text, classes="panel", id="page")
        page.border_title = self._title
        yield page
        yield ScreenKeys(self.look)

    def on_resize(self) -> None:
        """Write the page for the width of the window."""
        self.redraw()

    def redraw(self) -> None:
        """Write the page."""
        self._text.update(lines_of(self._write(self.look, self.app.size.width - 6), self.look))

    def action_scroll(self, action: str) -> None:
        """Scroll the page. ``action`` is a scroll action of Textual's widgets, such as ``page_down``."""
        getattr(self.query_one("#page"), f"action_{action}")()

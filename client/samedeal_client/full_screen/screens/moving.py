"""The link with which the player goes on with another device."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from samedeal_client import room_actions
from samedeal_client.board.layout import Size
from samedeal_client.full_screen.screens.base import ClientScreen
from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.themes import lines_of
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.panels.window import moving_rows
from samedeal_client.text.spans import Row


class MovingScreen(WidgetScreen):
    """The link, and its QR code if there is room for it, over another screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", "copy"),
        Binding("escape,q", "dismiss", "close"),
    ]

    def __init__(self, link: str) -> None:
        super().__init__()
        self._link = link

    def compose_body(self) -> ComposeResult:
        """Yield the text."""
        self._text = Static()
        yield self._text

    def minimum_size(self) -> Size:
        """Return a size that is not larger than any other screen's minimum, so that the link can always be closed."""
        return Size(40, 10)

    def title_parts(self) -> Row:
        """Return the left part of the header."""
        return breadcrumbs("another device")

    def show_model(self) -> None:
        """Write the link for the size of the screen."""
        size = self.body.size
        self._text.update(lines_of(moving_rows(self._link, size.width, size.height, self.look), self.look))

    def action_copy(self) -> None:
        """Copy the link."""
        self.app.copy_to_clipboard(self._link)
        self.show_message("Copied. If pasting fails, select with Shift and the mouse.", "good")


async def show_moving_link(screen: ClientScreen) -> None:
    """Ask for a link to the player's seat, and show it. Raise RequestRefused if the player has none."""
    link = await room_actions.moving_link(screen.client)
    _ = screen.app.push_screen(MovingScreen(link))

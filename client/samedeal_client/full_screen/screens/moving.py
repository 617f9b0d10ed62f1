"""The link with which the player goes on with another device."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from samedeal_client import room_actions
from samedeal_client.full_screen.screens.base import ClientScreen
from samedeal_client.full_screen.screens.page import PageScreen
from samedeal_client.panels.window import moving_rows


class MovingScreen(PageScreen):
    """The link with its QR code, over another screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "copy", "copy")]

    def __init__(self, link: str) -> None:
        super().__init__("Another device", lambda look, width: moving_rows(link, width, look))
        self._link = link

    def action_copy(self) -> None:
        """Copy the link."""
        self.app.copy_to_clipboard(self._link)
        self.notify("Copied. If pasting fails, select with Shift and the mouse.")


async def show_moving_link(screen: ClientScreen) -> None:
    """Ask for a link to the player's seat, and show it. Raise RequestRefused if the player has none."""
    link = await room_actions.moving_link(screen.client)
    _ = screen.app.push_screen(MovingScreen(link))

"""The app of the start screen. Its result is the command to run."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from samedeal_client.full_screen.screens.start import StartScreen
from samedeal_client.full_screen.widgets.look_app import LookApp
from samedeal_client.input.key_names import QUIT_KEY
from samedeal_client.menus.start_menu import FailedChoice
from samedeal_client.text.appearance import Look


class StartApp(LookApp[list[str]]):
    """The app of the start screen. Its result is the arguments of ``samedeal``, or no arguments if the player quits.

    ``failed`` is the player's last choice if it has failed. The player can correct it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(QUIT_KEY, "quit", "quit", priority=True),
    ]

    def __init__(self, look: Look, failed: FailedChoice | None = None) -> None:
        super().__init__(look)
        self._failed = failed

    def is_followed(self, result: list[str] | None) -> bool:
        """Return whether another app may follow, because the player has chosen a command."""
        return bool(result)

    async def on_mount(self) -> None:
        """Show the start screen."""
        _ = self.push_screen(StartScreen(self._failed))

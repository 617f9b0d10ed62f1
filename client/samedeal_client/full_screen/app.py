"""The full-screen client. The model determines which screen is shown."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Final, Literal

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.timer import Timer

from samedeal_client.full_screen.client_app import ClientApp
from samedeal_client.full_screen.screens.base import ClientScreen
from samedeal_client.input.key_names import QUIT_KEY
from samedeal_link.connection.saved_sessions import are_saved
from samedeal_link.machine.paths import state_home, write_private
from samedeal_link.machine.terminal import terminal
from samedeal_link.model.model import Model

ANNOUNCEMENT_TIME: Final = 20.0
"""Time, in seconds, for which the banner shows an announcement."""

ScreenName = Literal["lobby", "waiting", "race", "watch", "results"]

_SCREENS: Final[dict[ScreenName, tuple[str, str]]] = {
    "lobby": ("lobby", "LobbyScreen"),
    "waiting": ("waiting", "WaitingScreen"),
    "race": ("race", "RaceScreen"),
    "watch": ("spectate", "SpectateScreen"),
    "results": ("results", "ResultsScreen"),
}
"""The modules and classes of the screens. A module is imported when its screen is shown first."""


def screen_for(model: Model) -> ScreenName:
    """Return the name of the screen that fits a model."""
    room = model.room
    if room is None:
        return "lobby"
    if room.standings:
        return "results"
    if room.phase == "closed":
        return "lobby"
    if model.delay is not None:
        return "watch"
    return "waiting" if room.phase == "open" else "race"


class SamedealApp(ClientApp):
    """The full-screen app. It runs a ``ClientSession`` and shows the screen that fits the session's model."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1,question_mark", "help", "help"),
        Binding("f2", "people", "names", show=False, priority=True),
        Binding(QUIT_KEY, "quit", "quit", priority=True),
    ]

    screen_name: ScreenName | None = None
    _announcement_timer: Timer | None = None
    _unsubscribe: Callable[[], None] | None = None

    async def on_mount(self) -> None:
        """Start the ``ClientSession`` and show the screen for its model."""
        self._unsubscribe = self.client.subscribe(self.request_update)
        self.run_worker(self.client.run(), name="client", exit_on_error=True)
        await self.show_model()

    async def on_unmount(self) -> None:
        """End the player's bots and unsubscribe from the ``ClientSession``."""
        await self.bots.remove_all()
        if self._unsubscribe is not None:
            self._unsubscribe()

    async def show_model(self) -> None:
        """Show the screen that fits the model, and let it show what has changed."""
        self.update_pending = False
        if not self.screen_stack:
            return  # the app is closing
        model = self.client.model
        if model.room is not None:
            self.room = model.room.room
        entering = model.room is None and self.client.entering
        name = screen_for(model)
        if name == "lobby" and not self.has_lobby and not entering:
            self.exit(0)
            return
        shown = self.screen_stack[1] if len(self.screen_stack) > 1 else None
        stays = name == "results" and isinstance(shown, ClientScreen) and shown.stays_for(model)
        if stays:
            while len(self.screen_stack) > 2:
                await self.pop_screen()  # what is asked or shown there belongs to a race that is over
        elif name != self.screen_name and not entering:
            await self.show_screen(name)
            if name == "lobby" and model.room is not None and not self.announcement:
                self._announce_closed_room()
        screen = self.screen_stack[-1] if self.screen_stack else None
        if isinstance(screen, ClientScreen):
            screen.update()
            for message in self.client.take_messages():
                if message.kind in ("refusal", "wait"):
                    screen.show_message(message.sentence)
                elif message.kind == "room_closed":
                    self._announce_closed_room()
                else:
                    self.announce(message.sentence)

    async def show_screen(self, name: ScreenName) -> None:
        """Replace all open screens with the screen ``name``."""
        module, kind = _SCREENS[name]
        screen: Screen[None] = getattr(import_module(f"samedeal_client.full_screen.screens.{module}"), kind)()
        self.screen_name = name
        for below in self.screen_stack:
            if isinstance(below, ClientScreen):
                below.retire()
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        if len(self.screen_stack) == 2:
            await self.switch_screen(screen)
        else:
            await self.push_screen(screen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 (Textual's signature)
        """Return whether an action is available now. The help is available on every screen of the client."""
        return action != "help" or isinstance(self.screen, ClientScreen)

    async def action_help(self, *, rules: bool = False) -> None:
        """Open the help over the current screen. In a race, or if ``rules`` is true, open it at the rules."""
        from samedeal_client.full_screen.screens.help import HelpScreen

        if isinstance(self.screen, ClientScreen) and not isinstance(self.screen, HelpScreen):
            await self.push_screen(HelpScreen(self.screen.help_context, rules=rules))

    async def action_people(self) -> None:
        """Open the names in the room over the current screen, or close them."""
        from samedeal_client.full_screen.screens.people import PeopleScreen

        if isinstance(self.screen, PeopleScreen):
            _ = self.pop_screen()  # a screen can't await its own removal
        elif isinstance(self.screen, ClientScreen) and self.client.model.room is not None:
            await self.push_screen(PeopleScreen())

    def show_message(self, sentence: str, style: str = "notice") -> None:
        """Show a message on the current screen."""
        if isinstance(self.screen, ClientScreen):
            self.screen.show_message(sentence, style)

    def announce(self, sentence: str) -> None:
        """Show a sentence in the banner, on every screen, for ``ANNOUNCEMENT_TIME``."""
        self.announcement = sentence
        if self._announcement_timer is not None:
            self._announcement_timer.stop()
        self._announcement_timer = self.set_timer(ANNOUNCEMENT_TIME, self._clear_announcement)
        self._show_announcement()

    def _announce_closed_room(self) -> None:
        self.announce(f"The room {self.room} was closed. Press n to open one, or m to race now.")

    def _clear_announcement(self) -> None:
        self.announcement = ""
        self._show_announcement()

    def _show_announcement(self) -> None:
        if isinstance(self.screen, ClientScreen):
            self.screen.show_frame()

    async def action_quit(self) -> None:
        """Quit. During a race of the player or of their bots, ask for confirmation first."""
        from samedeal_client.full_screen.screens.question import QuestionScreen, QuitScreen, QuitWithBotsScreen

        asked = isinstance(self.screen, (QuitScreen, QuitWithBotsScreen))
        racing = self.client.model.is_racing(self.client.now())
        if asked or self.client.connection.state == "ended" or not (racing or self.has_racing_bots):
            self.exit(0)
        else:
            if isinstance(self.screen, QuestionScreen):
                _ = self.pop_screen()  # a screen can't await its own removal
            await self.push_screen(QuitScreen() if racing else QuitWithBotsScreen())

    def _fatal_error(self) -> None:
        """Report a crash in one sentence and save the traceback to a file.

        Textual has no public hook for this. If SAMEDEAL_DEBUG is set, Textual prints the traceback instead.
        """
        if os.environ.get("SAMEDEAL_DEBUG") or terminal().on_crash is not None:
            super()._fatal_error()
            return
        path: Path | None = state_home() / "crash.txt"
        try:
            write_private(state_home() / "crash.txt", traceback.format_exc())
        except OSError:
            path = None
        details = f"Details: {path}." if path else "The details could not be saved."
        rejoin = " Your seat is kept: run the same command to rejoin." if self.lasting and are_saved() else ""
        self.panic(Text(f"Samedeal crashed. {details}{rejoin}"))

"""The client on a full terminal: which screen is shown follows from what the client knows."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Callback
from textual.screen import Screen
from textual.timer import Timer

from samedeal_client.board.key_names import QUIT_KEY
from samedeal_client.bots.crew import Crew
from samedeal_client.net.client import Client
from samedeal_client.places import state_home, write_private
from samedeal_client.rooms.model import Model
from samedeal_client.rooms.room_form import RoomForm
from samedeal_client.screens.base import ClientScreen
from samedeal_client.text.look import Look

if TYPE_CHECKING:
    from samedeal_client.board.bindings import Bindings

ANNOUNCED_FOR: Final = 20.0
"""Seconds for which what the server says unasked is shown."""

Place = Literal["lobby", "waiting", "race", "watch", "results"]


def place_of(model: Model) -> Place:
    """The screen that shows a model."""
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


class SamedealApp(App[int]):
    """The app: it runs the client, and shows the screen for what the client knows.

    ``back_to`` names the server from whose lobby one has come to practise here, empty for none: one goes back there, as
    there is nobody in a lobby of this one. ``game`` and ``room`` are what was chosen in the lobby, and ``room_form`` is how
    the last room was opened, for when one comes back there.
    """

    ALLOW_SELECT: ClassVar[bool] = False
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False
    CSS_PATH: ClassVar[str] = "samedeal.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(f"{QUIT_KEY},ctrl+c", "quit", "Quit", priority=True, show=False),
        Binding("ctrl+z", "suspend_process", "Suspend", priority=True, show=False),
    ]

    def __init__(self, client: Client, look: Look, bindings: Bindings, back_to: str = "") -> None:
        super().__init__(ansi_color=True)
        self.client = client
        self.look = look
        self.bindings = bindings
        self.crew = Crew(client.link.address)
        self.back_to = back_to
        self.game = self.room = ""
        self.room_form = RoomForm()
        self.place: Place | None = None
        self.announced = ""
        self._announcing: Timer | None = None
        self._stale = False
        self._unsubscribe: Callable[[], None] | None = None

    async def on_mount(self) -> None:
        """Have the client run, and show what it knows."""
        self._unsubscribe = self.client.subscribe(self._client_changed)
        self.run_worker(self.client.run(), name="client", exit_on_error=True)
        await self._follow()

    async def on_unmount(self) -> None:
        """Leave the client alone, and have one's bots go."""
        await self.crew.dismiss()
        if self._unsubscribe is not None:
            self._unsubscribe()

    # ---------------------------------------------------------------- following the client

    def _client_changed(self) -> None:
        """Show what the client knows now, once for all changes of a turn."""
        if not self._stale:
            self._stale = True
            self.post_message(Callback(self._follow))  # what call_later does, less the partial that it wraps it in

    async def _follow(self) -> None:
        self._stale = False
        if not self.screen_stack:
            return  # what had changed last was told while the app was being closed
        model = self.client.model
        waiting = model.room is None and self.client.entering
        place = place_of(model)
        if place == "lobby" and self.back_to and not waiting:
            self.exit(0)
            return
        if place != self.place and not waiting:
            await self.goto(place)
        screen = self.screen_stack[-1] if self.screen_stack else None
        if isinstance(screen, ClientScreen):
            screen.update(model)
            for said in self.client.take_said():
                if said.kind == "refusal":
                    screen.say(said.sentence)
                else:
                    self.announce(said.sentence)

    async def goto(self, place: Place) -> None:
        """Show a screen, whatever was shown before."""
        self.place = place
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        screen = self._screen(place)
        if len(self.screen_stack) == 2:
            await self.switch_screen(screen)
        else:
            await self.push_screen(screen)

    @staticmethod
    def _screen(place: Place) -> Screen[None]:
        match place:
            case "lobby":
                from samedeal_client.screens.lobby import LobbyScreen

                return LobbyScreen()
            case "waiting":
                from samedeal_client.screens.waiting import WaitingScreen

                return WaitingScreen()
            case "race":
                from samedeal_client.screens.race import RaceScreen

                return RaceScreen()
            case "watch":
                from samedeal_client.screens.spectate import SpectateScreen

                return SpectateScreen()
            case "results":
                from samedeal_client.screens.results import ResultsScreen

                return ResultsScreen()

    async def help(self) -> None:
        """Show the keys and the rules, over what is shown: first what is of use there."""
        from samedeal_client.screens.help import HelpScreen

        if isinstance(self.screen, ClientScreen) and not isinstance(self.screen, HelpScreen):
            await self.push_screen(HelpScreen(self.screen.where))

    def say(self, sentence: str, style: str = "notice") -> None:
        """Show a sentence for some seconds."""
        if isinstance(self.screen, ClientScreen):
            self.screen.say(sentence, style)

    def announce(self, sentence: str) -> None:
        """Show a sentence above everything, on whatever screens there are for the next while."""
        self.announced = sentence
        if self._announcing is not None:
            self._announcing.stop()
        self._announcing = self.set_timer(ANNOUNCED_FOR, self._announced_enough)
        self._show_announced()

    def _announced_enough(self) -> None:
        self.announced = ""
        self._show_announced()

    def _show_announced(self) -> None:
        if isinstance(self.screen, ClientScreen):
            self.screen.show_frame()

    # ---------------------------------------------------------------- the end

    @property
    def racing(self) -> bool:
        """Whether leaving now would leave a race that one is still in."""
        model = self.client.model
        if model.room is None or model.delay is not None or model.room.phase == "open":
            return False
        return model.awaited and not (model.board is not None and model.board.won)

    @property
    def bots_race(self) -> bool:
        """Whether bots that one has added may be in a race under way."""
        room = self.client.model.room
        return bool(self.crew.names) and (room is None or room.phase in ("countdown", "racing"))

    async def action_quit(self) -> None:
        """Quit, but ask once during a race, be it one's own or only that of one's bots."""
        from samedeal_client.screens.question import QuestionScreen, QuitScreen, QuitWithBotsScreen

        asked = isinstance(self.screen, (QuitScreen, QuitWithBotsScreen))
        if asked or self.client.connection.state == "ended" or not (self.racing or self.bots_race):
            self.exit(0)
        else:
            if isinstance(self.screen, QuestionScreen):
                _ = self.pop_screen()  # it can't be awaited in the screen that goes
            await self.push_screen(QuitScreen() if self.racing else QuitWithBotsScreen())

    def _fatal_error(self) -> None:
        """Say in a sentence that the client has made a mistake, and keep what is needed to find it.

        Textual has no public hook for this; its own way, to print the whole traceback, is kept for SAMEDEAL_DEBUG.
        """
        if os.environ.get("SAMEDEAL_DEBUG"):
            super()._fatal_error()
            return
        written: Path | None = state_home() / "crash.txt"
        try:
            write_private(state_home() / "crash.txt", traceback.format_exc())
        except OSError:
            written = None
        kept = f"what happened is in {written}" if written else "what happened could not be written down"
        self.panic(
            Text(
                f"samedeal has made a mistake and stopped ({kept}). Your seat is kept: the same command brings you back."
            )
        )

"""An app with a theme, characters and names of keys that suit this terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace as replace_look
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from rich.console import Console, RenderableType
from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, NoColor

from samedeal_client.full_screen.widgets.terminal_driver import TerminalDriver
from samedeal_client.full_screen.widgets.themes import DARK, LIGHT, AsciiFilter
from samedeal_client.input.key_names import key_text
from samedeal_client.saved_settings import Settings, load_settings, save_settings
from samedeal_client.terminal_io.changed_cells import TerminalCells
from samedeal_client.terminal_io.kept_screen import KeptScreen
from samedeal_client.text.appearance import Look
from samedeal_link.machine.terminal import CRASHED, terminal
from samedeal_link.records.history_file import HistoryFile
from samedeal_link.records.past_races import History

_Result = TypeVar("_Result")

_ARROWS_IN_ASCII: Final = {"←/→": "Left/Right", "↑/↓": "Up/Down"}


class LookApp(App[_Result]):
    """An app that draws as ``look`` says, in the theme that the player has chosen, or that suits the terminal.

    ``terminal`` has the cells that the terminal shows. If ``keeps_screen`` is true, the app leaves its screen to the next
    app, so that the shell does not show in between.
    """

    ALLOW_SELECT: ClassVar[bool] = False
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+l", "redraw", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]
    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (76, "-normal"), (110, "-wide")]  # type: ignore[misc]  # as in App
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-low"), (32, "-high")]  # type: ignore[misc]  # as in App
    CSS_PATH: ClassVar[str] = "samedeal.tcss"  # in the folder of the apps' modules

    def __init__(self, look: Look, **options: Any) -> None:
        super().__init__(driver_class=terminal().driver or TerminalDriver, **options)
        if not terminal().owns_process:  # Textual has looked at the environment of the process
            self.console = Console(
                file=self.console.file, force_terminal=True, legacy_windows=False, _environ=terminal().environment
            )
            self.error_console = Console(file=terminal().errors, markup=False, highlight=False)
        self.look = look
        self.terminal = TerminalCells()
        self.keeps_screen = False
        self.animation_level = "full" if look.motion else "none"
        self.no_color = not look.colour
        others = set(self.available_themes)
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        is_dark = {DARK.name: True, LIGHT.name: False}.get(load_settings().theme, look.dark)
        self.theme = DARK.name if is_dark else LIGHT.name
        if look.colour:
            self.look = replace_look(look, dark=is_dark)
        for name in others:  # their backgrounds are not the terminal's, on which the board lies
            self.unregister_theme(name)

    def key_labels(self) -> Mapping[str, str]:
        """Return what the footer calls some actions now, on all screens."""
        return {}

    def is_followed(self, result: _Result | None) -> bool:  # noqa: ARG002 (for apps that override this)
        """Return whether another app of this program follows when this app ends with ``result``."""
        return False

    def exit(self, result: _Result | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the app. If another app follows, leave the screen to it."""
        self.keeps_screen = self.is_followed(result)
        super().exit(result, return_code, message)

    def _fatal_error(self) -> None:
        """Report a crash. If the process does not belong to the player, its operator gets the traceback."""
        if (report := terminal().on_crash) is None:
            super()._fatal_error()
        else:
            report()
            self.panic(Text(CRASHED))

    def on_resize(self) -> None:
        """Forget what the terminal shows, because a terminal that is resized moves its text or cuts it off."""
        self.terminal.forget()

    def action_redraw(self) -> None:
        """Draw everything again, because another program has written on the terminal."""
        self.terminal.forget()
        self.refresh(layout=True)

    def action_suspend_process(self) -> None:
        """Suspend this process and its process group, as a terminal does on Ctrl-Z.

        The group has the processes that wait for this one, such as ``make``. The shell takes over the terminal only
        when these processes are suspended too. The terminal is restored first, because a suspended process can't
        restore it.
        """
        if not terminal().owns_process:
            return
        with self.suspend():
            os.killpg(os.getpgrp(), signal.SIGSTOP)

    def save_settings(self, settings: Settings) -> None:
        """Save the settings. If that fails, tell the player that they last as long as this program."""
        try:
            save_settings(settings)
        except OSError as error:
            self.notify(f"Cannot save the settings ({error.strerror}). They last until you quit.")

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's own filters, and filters for a look without colours or in ASCII."""
        own = [NoColor()] * (not self.look.colour) + [AsciiFilter()] * self.look.ascii
        return (*super().get_line_filters(), *own)

    def get_key_display(self, binding: Binding) -> str:
        """Return the name of a key in the footer."""
        named = len(binding.key) > 1 and not binding.key_display
        shown = key_text(binding.key) if named else super().get_key_display(binding)
        return _ARROWS_IN_ASCII.get(shown, shown) if self.look.ascii else shown

    async def run_command(self, command: Sequence[str], starting: str) -> int:
        """Run a command in place of the app, with the look of the app, and return its exit code.

        Show the text ``starting`` until the command draws. The command should not leave the alternate screen when it
        ends, so that the shell does not show in between.
        """
        look, self.keeps_screen = self.look, True
        given = ["--ascii"] * look.ascii + ["--four-color"] * look.four_colour + ["--no-motion"] * (not look.motion)
        try:
            with self.batch_update(), self.suspend():
                KeptScreen.say(f"{starting} {look.glyphs.ellipsis}")
                if run := terminal().run_command:
                    return await run([*command, *given])
                program = (sys.executable, "-m", "samedeal_client")
                process = await asyncio.create_subprocess_exec(*program, *command, *given)
                return await process.wait()
        finally:
            self.keeps_screen = KeptScreen.is_shown = False

    async def replay(self, record: Path, name: str = "") -> str:
        """Replay a record from the view of the player ``name``. If that fails, return a sentence that says so."""
        player = ["--player", name] if name else []
        if not await self.run_command(
            ["replay", str(record), *player, "--back-to", "the results"], "Opening the replay"
        ):
            return ""
        return f"The replay failed. To see why, quit and type: samedeal replay {terminal().shown_path(record)}"

    def read_history(self) -> History:
        """Return the player's past races, or an empty history if the file can't be read."""
        try:
            return HistoryFile().read()
        except OSError:
            return History()

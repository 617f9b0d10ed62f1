"""``samedeal`` without a command, on a terminal: a start screen with a menu."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import samedeal_client

CommandStarter = Callable[[Sequence[str]], int | Coroutine[Any, Any, int]]
"""Run a command and return the exit code, or return a coroutine that does so. Raise SystemExit for bad usage."""


def preload() -> None:
    """Import the whole client, so that nobody waits for a part of it later."""
    for found in pkgutil.walk_packages(samedeal_client.__path__, f"{samedeal_client.__name__}."):
        if not found.name.endswith("__main__"):  # which runs a command
            importlib.import_module(found.name)


async def start(run_command: Callable[[Sequence[str]], Awaitable[int]]) -> int:
    """Show the menu and run the commands that the player chooses, until the player quits. Return the exit code.

    If an address or a room that the player has typed is wrong, the menu says so, and the player can correct it.
    """
    from dataclasses import replace

    from samedeal.errors import RequestRefused, SamedealError
    from samedeal_client.commands.arguments import error_report
    from samedeal_client.full_screen.run_app import prepare_textual, with_background
    from samedeal_client.menus.start_menu import RESTART, starting_text
    from samedeal_client.saved_settings import load_settings
    from samedeal_client.terminal_io.kept_screen import KeptScreen
    from samedeal_client.terminal_io.line_io import terminal_look
    from samedeal_link.errors import Failure

    prepare_textual()
    from samedeal_client.full_screen.start_app import StartApp
    from samedeal_client.menus.start_menu import FailedChoice

    background = with_background(terminal_look(ascii_only=False))
    failed: FailedChoice | None = None
    try:
        while True:
            settings = load_settings()
            look = replace(background, ascii=background.ascii or settings.ascii, four_colour=settings.four_color)
            arguments = await StartApp(look, failed).run_async()
            failed = None
            if not arguments:
                return 0
            if tuple(arguments) == RESTART:
                continue
            KeptScreen.say(f"{starting_text(arguments)} {look.glyphs.ellipsis}")
            try:
                code = await run_command([*arguments, "--back-to", "the start screen"])
            except (SamedealError, Failure) as error:
                failed = FailedChoice(arguments, str(error_report(error)))
                if isinstance(error, RequestRefused):
                    forget_refused_seat(arguments)
                continue
            if code:
                return code
    finally:
        KeptScreen.leave()


def forget_refused_seat(arguments: Sequence[str]) -> None:
    """Forget the player's saved seat, if the refused command ``arguments`` was meant to return to that seat."""
    from samedeal_link.connection.saved_sessions import FileSessions

    sessions = FileSessions()
    seat = sessions.kept_seat()
    if seat is not None and list(arguments) == seat.arguments:
        sessions.forget_seat(seat)

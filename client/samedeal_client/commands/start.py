"""``samedeal`` without a command, on a terminal: a menu of what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

RETURNS = ("play", "host")
"""Commands after which the menu is shown again."""


def start(run_command: Callable[[Sequence[str]], int]) -> int:
    """Show the menu and run what the player chooses, until they quit. Return the exit code."""
    from dataclasses import replace

    from samedeal_client.saved_settings import load_settings
    from samedeal_client.state.start_menu import RESTART
    from samedeal_client.text.line_io import terminal_look
    from samedeal_client.tui import with_background

    for name in ("COLUMNS", "LINES"):  # as in tui.show
        os.environ.pop(name, None)
    from samedeal_client.start_app import StartApp

    background = with_background(terminal_look(ascii_only=False))
    while True:
        settings = load_settings()
        look = replace(background, ascii=background.ascii or settings.ascii, four_colour=settings.four_color)
        arguments = StartApp(look).run()
        if not arguments:
            return 0
        if tuple(arguments) == RESTART:
            continue
        code = run_command([*arguments, "--back-to", "the start screen"] if arguments[0] == "play" else arguments)
        if code or arguments[0] not in RETURNS:
            return code

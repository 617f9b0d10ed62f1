"""``samedeal history``: show the player's past races."""

from __future__ import annotations

import argparse

from samedeal_link.machine.terminal import terminal

_WIDTH = 200
"""Width, in columns, of output that does not go to a terminal."""


def run(given: argparse.Namespace) -> int:
    """Print the history and return the exit code."""
    from datetime import UTC, datetime

    from samedeal.games import game_named
    from samedeal_client.panels.history import history_rows, streak_text, unreadable_text
    from samedeal_client.terminal_io.line_io import Printer, terminal_look
    from samedeal_link.records.history_file import HistoryFile

    file = HistoryFile()
    history = file.read()
    if note := unreadable_text(history, terminal().shown_path(file.path)):
        print(f"samedeal: {note}", file=terminal().errors)
    streak = streak_text(history, datetime.now(UTC).date())
    if given.game:
        history = history.in_game(game_named(given.game.lower()).name)
    look = terminal_look(ascii_only=given.ascii)
    width = terminal().width() or _WIDTH
    Printer(terminal().output, colour=look.colour).print_rows(history_rows(history, look, width, streak, given.limit))
    return 0

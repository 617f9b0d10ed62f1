"""``samedeal rules``: print the rules of a game."""

from __future__ import annotations

import argparse
import shutil

from samedeal.games import GAMES, game_named
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import terminal

_MAX_WIDTH = 100


def run(given: argparse.Namespace) -> int:
    """Print the rules and return the exit code."""
    from samedeal_client.terminal_io.line_io import Printer, terminal_look
    from samedeal_client.text.rules_text import rules_rows

    if not given.game:
        raise Failure(f"No game was given. Write samedeal rules GAME, where GAME is one of {', '.join(GAMES)}.", 2)
    game = game_named(given.game)
    look = terminal_look(ascii_only=given.ascii)
    width = min(terminal().width() or shutil.get_terminal_size().columns, _MAX_WIDTH)
    printer = Printer(terminal().output, colour=look.colour)
    printer.print_lines([game.title, ""])
    printer.print_rows(rules_rows(game, look, width))
    return 0

"""``samedeal rules``: the rules of a game, to be read."""

from __future__ import annotations

import argparse
import shutil
import sys

from samedeal.games import GAMES, Game
from samedeal_client.running import Failure

DESCRIPTION = "The rules of a game, complete: who has read them can play it."

EXAMPLES = f"""\
examples:
  samedeal rules willow
  samedeal rules ace-of-hearts | less

the games: {", ".join(GAMES)}"""

_WIDEST = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("game", metavar="GAME", nargs="?", default="", help=f"one of {', '.join(GAMES)}")
    parser.add_argument("--ascii", action="store_true", help="print ASCII only")


def run(given: argparse.Namespace) -> int:
    """Print them: the exit code."""
    from samedeal_client.text.lines import Printer, terminal_look
    from samedeal_client.text.rules_text import rules_rows

    if not given.game:
        raise Failure(f"Which game? samedeal rules GAME, where GAME is one of {', '.join(GAMES)}", 2)
    game = Game.named(given.game)
    look = terminal_look(ascii_only=given.ascii)
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    printer = Printer(sys.stdout, colour=look.colour)
    printer.say([game.title, ""])
    printer.show(rules_rows(game, look, width))
    return 0

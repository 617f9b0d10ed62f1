"""``samedeal race``: race now, against the people who come."""

from __future__ import annotations

import argparse
from collections.abc import Coroutine
from typing import Any

from samedeal.games import DEFAULT_GAME, GAMES
from samedeal_client.commands.arguments import add_player, player_name
from samedeal_link.errors import Failure

DESCRIPTION = """\
Race now: take a seat in the public race that starts soonest. If there is none, one is opened. It starts within a minute
with the players who have come. Without URL, the server is the one that you joined last."""

EXAMPLES = f"""\
examples:
  samedeal race example.org                 the race that starts soonest
  samedeal race {DEFAULT_GAME} example.org          the same, in a game of your choice
  samedeal race {DEFAULT_GAME}                      on the server that you joined last
  samedeal race --tide example.org          in the next race at a fixed minute, once it is open

games: {", ".join(GAMES)}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal race``."""
    parser.add_argument("words", metavar="GAME URL", nargs="*", help="a game, a server, or both")
    parser.add_argument("--tide", action="store_true", help="enter the next tide instead: a race at a fixed minute")
    add_player(parser)


def run(given: argparse.Namespace) -> Coroutine[Any, Any, int]:
    """Return the coroutine that races. Its result is the exit code."""
    from samedeal_client.room_actions import enter_next_tide, race_now
    from samedeal_client.run_client import LineIO, run_client
    from samedeal_client.saved_settings import load_settings
    from samedeal_link.connection.address import parse_address
    from samedeal_link.session.client_session import ClientSession

    words = list(given.words)
    game = words.pop(0).lower() if words and (words[0].lower() in GAMES or len(words) > 1) else ""
    url = words.pop(0) if words else load_settings().server
    if not url or words:
        raise Failure("Write 'samedeal race GAME URL', with a game and a server. Each of them may be left out.", 2)

    async def enter(client: ClientSession, lines: LineIO | None) -> None:  # noqa: ARG001 (the signature of run_client)
        await (enter_next_tide if given.tide else race_now)(client, game)

    return run_client(given, parse_address(url), player_name(given.name), enter)

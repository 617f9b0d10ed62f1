"""``samedeal race``: race now, against the people who come."""

from __future__ import annotations

import argparse
from collections.abc import Coroutine
from typing import Any

from samedeal.games import GAMES, LEAD_GAME
from samedeal_client.commands.arguments import player_name
from samedeal_link.errors import Failure


def run(given: argparse.Namespace) -> Coroutine[Any, Any, int]:
    """Return the coroutine that races. Its result is the exit code."""
    from samedeal_client.room_actions import enter_next_tide, race_now, race_with_bots
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
        if given.bots:
            await race_with_bots(client, game or LEAD_GAME)
        else:
            await (enter_next_tide if given.tide else race_now)(client, game)

    return run_client(given, parse_address(url), player_name(given.name), enter)

"""``samedeal watch``: watch a race."""

from __future__ import annotations

import argparse
from collections.abc import Coroutine
from typing import Any

from samedeal_client.commands.arguments import (
    enter_with_passphrase,
    player_name,
    server_and_room,
)
from samedeal_link.errors import Failure


def run(given: argparse.Namespace) -> Coroutine[Any, Any, int]:
    """Return the coroutine that watches. Its result is the exit code."""
    from samedeal_client.run_client import LineIO, run_client
    from samedeal_link.connection.address import home_path
    from samedeal_link.session.client_session import ClientSession

    address, room = server_and_room(given)
    if not room:
        listing = f"To list the rooms, write 'samedeal rooms {given.url}'."
        raise Failure(f"No room code was given. Write 'samedeal watch {given.url} ROOM'. {listing}", 2)

    async def enter(client: ClientSession, lines: LineIO | None) -> None:
        await enter_with_passphrase(lambda passphrase: client.watch(room, passphrase), given.passphrase, lines)

    return run_client(given, address, player_name(given.name), enter, home=home_path(room, watches=True))

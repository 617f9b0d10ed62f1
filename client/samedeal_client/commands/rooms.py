"""``samedeal rooms``: list the rooms of a server."""

from __future__ import annotations

import argparse
import asyncio

from samedeal.games import DEFAULT_GAME
from samedeal.terminal_text import printable
from samedeal_client.commands.common import add_address, server_and_room

DESCRIPTION = "List the rooms of a server that you can join or watch, newest first."
EXAMPLES = f"""\
examples:
  samedeal rooms example.org
  samedeal rooms example.org --open --game {DEFAULT_GAME}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal rooms``."""
    add_address(parser, room=None)
    parser.add_argument("--game", default="", help="list only rooms that play this game")
    parser.add_argument("--open", action="store_true", help="list only rooms that you can join")


def run(given: argparse.Namespace) -> int:
    """List the rooms and return the exit code."""
    from samedeal_client.net.reconnecting_link import Link
    from samedeal_client.net.room_client import RoomClient
    from samedeal_client.net.saved_sessions import MemorySessions
    from samedeal_client.text.line_io import terminal_look
    from samedeal_client.views.narration import room_lines

    address, _ = server_and_room(given)

    async def list_rooms() -> list[str]:
        async with Link(address, "visitor", MemorySessions()) as link:
            rooms = await RoomClient(link).list(given.game, only_open=given.open)
        if not rooms and (given.game or given.open):
            return ["There are no such rooms. List all of them without --game and --open."]
        if not rooms:
            return [f"There are no rooms. Open one with samedeal new {address.typed}."]
        return room_lines(rooms, terminal_look(ascii_only=False))

    for line in asyncio.run(list_rooms()):
        print(printable(line))
    return 0

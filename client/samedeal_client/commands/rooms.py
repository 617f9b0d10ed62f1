"""``samedeal rooms``: list the rooms of a server."""

from __future__ import annotations

import argparse

from samedeal.terminal_text import printable
from samedeal_client.commands.arguments import server_and_room
from samedeal_link.machine.terminal import terminal


async def run(given: argparse.Namespace) -> int:
    """List the rooms and return the exit code."""
    from samedeal_client.panels.narration import room_lines
    from samedeal_client.terminal_io.line_io import terminal_look
    from samedeal_link.connection.reconnecting_link import Link
    from samedeal_link.connection.saved_sessions import MemorySessions
    from samedeal_link.session.room_client import RoomClient

    address, _ = server_and_room(given)
    async with Link(address, "visitor", MemorySessions()) as link:
        rooms = await RoomClient(link).list(given.game, only_open=given.open)
    if rooms:
        lines = room_lines(rooms, terminal_look(ascii_only=False))
    elif given.game or given.open:
        lines = ["There are no such rooms. List all of them without --game and --open."]
    else:
        lines = [f"There are no public rooms. Open one with samedeal new {address.typed}."]
    for line in lines:
        print(printable(line), file=terminal().output)
    return 0

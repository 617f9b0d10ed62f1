"""``samedeal rooms``: what is going on at a server."""

from __future__ import annotations

import argparse
import asyncio

from samedeal.names import printable
from samedeal_client.commands.common import add_address, place_of

DESCRIPTION = "List the rooms of a server that can be joined or watched, newest first."
EXAMPLES = """\
examples:
  samedeal rooms example.org"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_address(parser, room=None)


def run(given: argparse.Namespace) -> int:
    """List the rooms: the exit code."""
    from samedeal_client.net.link import Link
    from samedeal_client.net.sessions import BriefSessions
    from samedeal_client.net.table import Table
    from samedeal_client.text.lines import terminal_look
    from samedeal_client.views.narration import room_lines

    address, _ = place_of(given)

    async def ask() -> list[str]:
        async with Link(address, "visitor", BriefSessions()) as link:
            rooms = await Table(link).rooms()
        if not rooms:
            return [f"There are no rooms: open one with samedeal new {address.typed}"]
        return room_lines(rooms, terminal_look(ascii_only=False))

    for line in asyncio.run(ask()):
        print(printable(line))
    return 0

"""``samedeal join``: a race with others."""

from __future__ import annotations

import argparse
import asyncio

from samedeal_client.commands.common import (
    add_address,
    add_player,
    ask_secret,
    asking_passphrase,
    place_of,
    player_name,
)
from samedeal_client.running import Failure

DESCRIPTION = """\
Join a race, or come back to one: with the same name on the same machine you get your seat again, even after
this program was killed. Without ROOM the rooms are shown to choose from."""

EXAMPLES = """\
examples:
  samedeal join example.org friday             the room friday on example.org
  samedeal join samedeal://example.org/friday  the same, as others send it to you
  samedeal join localhost friday --name ana    on this machine, under another name
  echo draw | samedeal join localhost friday   without a terminal: lines in, lines out, ends with the race

In lines (--plain, or without a terminal) type help for what can be typed. Exit codes: 0 the race is over or you
quit, 1 no connection or refused, 2 bad usage, 130 Ctrl-C (which prints how to come back)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_address(parser, room="the room's code")
    add_player(parser)


def run(given: argparse.Namespace) -> int:
    """Join: the exit code."""
    from samedeal_client.face import Lines, Wishes, play_at
    from samedeal_client.net.client import Client
    from samedeal_client.views.narration import room_lines

    address, room = place_of(given)
    name = player_name(given.name)

    async def choose_room(client: Client, lines: Lines) -> str:
        rooms = await client.rooms()
        if not rooms:
            raise Failure(f"There are no rooms on {address.typed}: open one with samedeal new {address.typed}")
        lines.printer.say(room_lines(rooms, lines.look))
        return await lines.ask("Which room?")

    async def enter(client: Client, lines: Lines | None) -> None:
        chosen = room
        if not chosen:
            if lines is None:
                return
            chosen = await choose_room(client, lines)
            if not chosen:
                raise Failure("Name the room: samedeal join URL ROOM", 2)
        ask = lines.secret if lines is not None else ask_secret
        await asking_passphrase(lambda passphrase: client.join(chosen, passphrase), given.passphrase, ask)

    return asyncio.run(play_at(address, name, Wishes.given(given), enter))

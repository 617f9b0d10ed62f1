"""``samedeal watch``: the boards of a race, late."""

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
Watch a race: every board, as many seconds late as the room says (15 unless its host changed it), so that nobody can tell
a player what is coming."""

EXAMPLES = """\
examples:
  samedeal watch example.org friday
  samedeal watch samedeal://example.org/friday --plain   moves as lines; type board to see the boards"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_address(parser, room="the room's code")
    add_player(parser)


def run(given: argparse.Namespace) -> int:
    """Watch: the exit code."""
    from samedeal_client.face import Lines, Wishes, play_at
    from samedeal_client.net.client import Client

    address, room = place_of(given)
    if not room:
        raise Failure(f"Name the room: samedeal watch {given.url} ROOM; samedeal rooms {given.url} lists them", 2)

    async def enter(client: Client, lines: Lines | None) -> None:
        ask = lines.secret if lines is not None else ask_secret
        await asking_passphrase(lambda passphrase: client.watch(room, passphrase), given.passphrase, ask)

    return asyncio.run(play_at(address, player_name(given.name), Wishes.given(given), enter))

"""``samedeal bot``: somebody to race against."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Final

from samedeal.errors import Refused
from samedeal.names import printable
from samedeal_client.commands.common import add_address, add_passphrase, place_of
from samedeal_client.running import Failure, on_signals

if TYPE_CHECKING:
    from samedeal_client.net.table import Table

DESCRIPTION = """\
A bot joins a race, is ready at once, plays, and goes when the race is over. It sees what a player sees and nothing
else. random makes any move, greedy the one that looks best, careful looks ahead."""

EXAMPLES = """\
examples:
  samedeal bot example.org friday                              a careful one, a move every three seconds
  samedeal bot example.org friday --level greedy --pace 60
  samedeal bot localhost friday --name deep --stay             stays for rematches"""

_FAREWELL: Final = 1.0
"""Seconds that a bot that is stopped has to give up its seat."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_address(parser, room="the room's code")
    parser.add_argument("--level", choices=("random", "greedy", "careful"), default="careful", help="(careful)")
    parser.add_argument("--pace", type=_pace, default=20.0, metavar="N", help="moves a minute, 1 to 1000 (20)")
    parser.add_argument("--name", default="", help="(bot-, a name and a number)")
    parser.add_argument("--seed", type=int, default=None, help="a number, to play the same way again")
    parser.add_argument("--stay", action="store_true", help="follow to the rematch, and the one after it")
    add_passphrase(parser)
    parser.add_argument("--leash", action="store_true", help=argparse.SUPPRESS)


def _pace(text: str) -> float:
    try:
        pace = float(text)
    except ValueError:
        pace = 0.0
    if not 1 <= pace <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of moves a minute from 1 to 1000")
    return pace


def run(given: argparse.Namespace) -> int:
    """Play: the exit code."""
    from random import Random

    from samedeal.names import clean_name
    from samedeal_client.bots.bot import Bot, bot_name
    from samedeal_client.net.link import Link
    from samedeal_client.net.sessions import BriefSessions
    from samedeal_client.net.table import Table

    address, room = place_of(given)
    if not room:
        raise Failure(f"Name the room: samedeal bot {given.url} ROOM; samedeal rooms {given.url} lists them", 2)
    rng = Random(given.seed)  # noqa: S311 (how a bot plays is no secret)
    name = clean_name(given.name) if given.name else bot_name(rng)

    def say(sentence: str) -> None:
        print(printable(f"{name}: {sentence}"), flush=True)

    async def play() -> int:
        stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        async with Link(address, name, BriefSessions()) as link:
            table = Table(link)
            with on_signals(lambda code: None if stopped.done() else stopped.set_result(code)):
                if given.leash:
                    _end_with_input(stopped)
                await table.join(room, given.passphrase)
                say(f"in room {room}, {given.level}, {given.pace:g} moves a minute")
                bot = Bot(table, given.level, given.pace, rng, stay=given.stay, say=say)
                playing = asyncio.create_task(bot.run())
                await asyncio.wait((playing, stopped), return_when=asyncio.FIRST_COMPLETED)
                if playing.done():
                    return playing.result()
                playing.cancel()
                await asyncio.gather(playing, return_exceptions=True)
                await _go(table)
                return stopped.result()

    return asyncio.run(play())


async def _go(table: Table) -> None:
    """Give the seat up, so that nobody waits for a bot that has been stopped."""
    with contextlib.suppress(Refused, TimeoutError):
        async with asyncio.timeout(_FAREWELL):
            await table.leave()


def _end_with_input(stopped: asyncio.Future[int]) -> None:
    """Stop when standard input ends, as it does with whoever holds the other end of that pipe."""
    loop = asyncio.get_running_loop()

    def look() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            if not stopped.done():
                stopped.set_result(0)

    loop.add_reader(0, look)

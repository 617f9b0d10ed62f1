"""``samedeal bot``: a bot that joins a race."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from samedeal.errors import RequestRefused
from samedeal.terminal_text import printable
from samedeal_client.commands.arguments import server_and_room
from samedeal_link.machine.signals import until_stopped
from samedeal_link.solving.bot_levels import ALL_LEVELS, LEVELS

if TYPE_CHECKING:
    from samedeal_bots.engine import Engine
    from samedeal_link.session.room_client import RoomClient


_LEAVE_TIMEOUT: Final = 0.25
"""Timeout, in seconds, for giving up the seat when the bot is stopped."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that depend on the levels and on what an option is."""
    levels = f"how it plays: {', '.join(LEVELS)} (default: careful)"
    parser.add_argument("--level", metavar="LEVEL", choices=ALL_LEVELS, default="careful", help=levels)
    parser.add_argument(
        "--option", metavar="NAME=VALUE", type=_option, action="append", default=[], help="set an option of the program"
    )


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name and text.isprintable()) or " " in name:
        raise argparse.ArgumentTypeError(f"{text!r} is not an option. Write its name and value, as in depth=5.")
    return name, value


def engine_of(given: argparse.Namespace, command: str, name: str, options: Sequence[tuple[str, str]] = ()) -> Engine:
    """Return the engine with a command, whose messages begin with ``name``. Raise Failure if there is no such program."""
    from samedeal_bots.engine import Engine, engine_command

    def report(sentence: str) -> None:
        print(printable(f"{name}: {sentence}", 2000), file=sys.stderr, flush=True)

    trace = report if given.trace else lambda _: None
    return Engine(engine_command(command), report, dict(options), trace, given.peek)


def run(given: argparse.Namespace) -> int:
    """Play and return the exit code."""
    from random import Random

    from samedeal.names import clean_name
    from samedeal_bots.bot import Bot, bot_name
    from samedeal_link.connection.address import home_path
    from samedeal_link.connection.reconnecting_link import Link
    from samedeal_link.connection.saved_sessions import MemorySessions
    from samedeal_link.session.room_client import RoomClient

    address, room = server_and_room(given)
    rng = Random(given.seed)  # noqa: S311 (a bot's choices are not secret)
    name = clean_name(given.name) if given.name else bot_name(rng)

    def report(sentence: str) -> None:
        print(printable(f"{name}: {sentence}"), flush=True)

    async def play() -> int:
        if given.exit_with_stdin:
            stop_at_end_of_input()
        async with contextlib.AsyncExitStack() as contexts:
            engine: Engine | None = None
            if given.engine:
                engine = await contexts.enter_async_context(engine_of(given, given.engine, name, given.option))
                await engine.start()
            link = Link(address, name, MemorySessions(), bot=True, home=home_path(room) if room else "")
            rooms = RoomClient(await contexts.enter_async_context(link))
            if room:
                await rooms.join(room, given.passphrase)
            kind = engine.name if engine else given.level
            where = f"in room {room}" if room else "waiting for open rooms"
            report(f"{where}, {kind}, {given.pace:g} moves per minute")
            bot = Bot(rooms, given.level, given.pace, rng, given.stay, report, engine, roams=not room)
            code = 1
            try:
                code = await bot.run()
            finally:
                if code:
                    await _leave(rooms)
            return code

    return asyncio.run(until_stopped(play()))


async def _leave(rooms: RoomClient) -> None:
    """Give up the seat, so that nobody waits for a stopped bot."""
    with contextlib.suppress(RequestRefused, TimeoutError):
        async with asyncio.timeout(_LEAVE_TIMEOUT):
            await rooms.leave()


def stop_at_end_of_input() -> None:
    """Stop the process as after SIGTERM when standard input closes. It closes when the parent process ends."""
    loop = asyncio.get_running_loop()

    def on_input() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            signal.raise_signal(signal.SIGTERM)

    loop.add_reader(0, on_input)

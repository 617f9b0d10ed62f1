"""``samedeal play``: a race on this machine."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from samedeal_client.commands.common import add_look, player_name, whole
from samedeal_client.running import Failure, is_terminal, until_stopped

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from samedeal.options import Options
    from samedeal_client.bots.local import BotPlan, LocalServer
    from samedeal_client.face import Lines
    from samedeal_client.net.client import Client

DESCRIPTION = """\
Race against bots on this machine: it starts a server and the bots, and ends them with the race. Without a terminal one
more bot plays in your place, and progress is printed as lines."""

EXAMPLES = """\
examples:
  samedeal play                                Willow against a careful, a greedy and a random bot
  samedeal play athena --level careful --pace 30
  samedeal play steve --deal 4821 --bots 7
  samedeal play phoenix < /dev/null            watch four bots race

games: athena, steve, phoenix, ace-of-hearts, willow"""

_PACE = 15.0
_FAST = 300.0
_LIMIT = "15"
_SHORT = "55s"
_EVERY = 2.0
_SHOWN = {"willow": 282, "athena": 49, "phoenix": 17, "steve": 4, "ace-of-hearts": 3}
"""Deals that a careful bot brings home in less than the short limit, to be watched."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("game", metavar="GAME", nargs="?", default="willow", help="(willow)")
    parser.add_argument("--deal", default="", help="a number, daily or random (a number of its own choosing)")
    parser.add_argument("--bots", type=whole(1, 15), default=3, metavar="N", help="1 to 15 (3)")
    parser.add_argument("--level", choices=("mixed", "random", "greedy", "careful"), default="mixed", help="(mixed)")
    parser.add_argument(
        "--pace",
        type=whole(1, 1000),
        default=None,
        metavar="N",
        help=f"the bots' moves a minute ({_PACE:g}; without a terminal {_FAST:g})",
    )
    parser.add_argument(
        "--limit",
        default="",
        metavar="TIME",
        help="when it is over at the latest: 15 (minutes), 15:00 or 90s (15 minutes; without a terminal 55s)",
    )
    parser.add_argument("--name", default="", help="how you are called (your login name)")
    parser.add_argument("--back-to", default="", metavar="SERVER", help=argparse.SUPPRESS)
    add_look(parser)


def run(given: argparse.Namespace) -> int:
    """Race: the exit code."""
    from random import SystemRandom

    from samedeal.games import Game
    from samedeal_client.bots.local import CannotHost, plan_bots

    game = Game.named(given.game.lower()).name
    alone = not is_terminal()
    options = _options(given, game, alone=alone)
    pace = float(given.pace or (_FAST if alone else _PACE))
    rng = SystemRandom()
    plans = plan_bots(min(given.bots + alone, 15), given.level, pace, rng)
    race = _watch_bots(options, plans) if alone else _play(given, options, plans)
    try:
        return asyncio.run(until_stopped(race))
    except CannotHost as error:
        raise Failure(str(error)) from None


def _options(given: argparse.Namespace, game: str, *, alone: bool) -> Options:
    from random import SystemRandom

    from samedeal.deal import Deal
    from samedeal.options import Options
    from samedeal_client.rooms.room_fields import read_duration

    try:
        limit = read_duration(given.limit or (_SHORT if alone else _LIMIT))
    except ValueError as error:
        raise Failure(f"--limit {given.limit}: {error}", 2) from None
    shown = _SHOWN.get(game) if alone else None
    deal = Deal.parse(given.deal or f"#{shown or SystemRandom().randrange(1, 1_000_000)}")
    return Options(
        games=(game,),
        deal=str(deal),
        players=min(given.bots + 1, 16),
        limit=limit,
        hints=True,
        delay=0,
        start="full",
        countdown=1 if alone else 5,
    )


async def _play(given: argparse.Namespace, options: Options, plans: list[BotPlan]) -> int:
    """The race of somebody who sits at a terminal."""
    from contextlib import AsyncExitStack

    from samedeal.names import printable
    from samedeal_client.bots.local import local_bots, local_server
    from samedeal_client.face import Wishes, play_at

    name = player_name(given.name)
    async with local_server() as server, AsyncExitStack() as stack:

        async def enter(client: Client, lines: Lines | None) -> None:
            room = await client.create(options)
            await client.join(room)
            say = lines.printer.say if lines is not None else _unheard
            bots = local_bots(server.address, room, plans, stay=True, warn=lambda sentence: say([sentence]))
            await stack.enter_async_context(bots)

        race = play_at(
            server.address, name, Wishes.given(given), enter, lasting=False, back_to=printable(given.back_to)
        )
        return await _while_served(race, server)


async def _watch_bots(options: Options, plans: list[BotPlan]) -> int:
    """The race of bots among themselves, told in lines."""
    from samedeal_client.bots.local import local_bots, local_server
    from samedeal_client.net.client import Client
    from samedeal_client.net.link import Link
    from samedeal_client.net.sessions import BriefSessions

    async def race(server: LocalServer) -> int:
        async with Link(server.address, "host", BriefSessions()) as link:
            client = Client(link)
            room = await client.create(options)
            await client.watch(room)
            async with local_bots(server.address, room, plans, stay=False, warn=_warn):
                return await _tell(client)

    async with local_server() as server:
        return await _while_served(race(server), server)


def _unheard(lines: Iterable[str]) -> None:
    """A full screen shows by itself that a bot has gone."""


def _warn(sentence: str) -> None:
    import sys

    print(f"samedeal: {sentence}", file=sys.stderr)


async def _tell(client: Client) -> int:
    """Print what happens to a race until it is over."""
    import sys

    from samedeal_client.text.lines import Printer, terminal_look
    from samedeal_client.views.narration import Narrator
    from samedeal_client.views.panel import clock_text

    look = terminal_look(ascii_only=False)
    printer = Printer(sys.stdout, colour=False)
    narrator = Narrator(look)
    told = client.model
    over = asyncio.Event()

    def tell() -> None:
        nonlocal told
        before, told = told, client.model
        if told is not before:
            printer.say(narrator.tell(before, told))
        if told.room is not None and told.room.phase in ("finished", "closed"):
            over.set()

    async def progress() -> None:
        shown = ""
        while True:
            await asyncio.sleep(_EVERY)
            room = client.model.room
            line = narrator.rivals(client.model)
            if room is not None and room.phase == "racing" and line != shown:
                printer.say([f"{clock_text(client.now() - room.starts)}  {line}"])
                shown = line

    leave = client.subscribe(tell)
    following = asyncio.create_task(client.run())
    progressing = asyncio.create_task(progress())
    waiting = asyncio.create_task(over.wait())
    try:
        await asyncio.wait((following, progressing, waiting), return_when=asyncio.FIRST_COMPLETED)
        if progressing.done():
            progressing.result()
        if following.done() and not over.is_set():
            raise Failure(following.result().sentence)
    finally:
        leave()
        for task in (following, progressing, waiting):
            task.cancel()
        await asyncio.gather(following, progressing, waiting, return_exceptions=True)
    return 0


async def _while_served(race: Coroutine[Any, Any, int], server: LocalServer) -> int:
    """Run a race to its end: the exit code. Raises CannotHost when the server ends before it."""
    racing = asyncio.create_task(race)
    ended = asyncio.create_task(server.ended())
    try:
        await asyncio.wait((racing, ended), return_when=asyncio.FIRST_COMPLETED)
        if racing.done():
            return racing.result()
        raise ended.result()
    finally:
        for task in (racing, ended):
            task.cancel()
        await asyncio.gather(racing, ended, return_exceptions=True)

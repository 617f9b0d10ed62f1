"""``samedeal play``: race against bots on this machine."""

from __future__ import annotations

import argparse
from itertools import cycle, islice
from typing import TYPE_CHECKING

from samedeal.command_line_help import add_rows
from samedeal.games import game_named
from samedeal_client.commands.arguments import add_game, player_name
from samedeal_client.commands.new import read_limit
from samedeal_link.errors import Failure
from samedeal_link.machine.signals import until_stopped
from samedeal_link.machine.terminal import terminal
from samedeal_link.solving.bot_levels import MIXES

if TYPE_CHECKING:
    from samedeal.options import Options
    from samedeal_client.run_client import LineIO
    from samedeal_link.connection.address import ServerAddress
    from samedeal_link.session.client_session import ClientSession


_PACE = 10.0
_FAST = 300.0
_LIMIT = "15"
_SHORT = "55s"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that depend on the games, the levels and the usual pace."""
    add_game(parser)
    parser.add_argument("--level", choices=MIXES, default="mixed", help="how well the bots play (default: mixed)")
    pace = f"moves per minute of each bot (default: {_PACE:g}; without a terminal {_FAST:g})"
    add_rows(parser, {"--pace": {"type": "1 to 1000", "help": pace}})
    parser.add_argument(
        "--hints", action=argparse.BooleanOptionalAction, default=True, help="allow hints (default: yes)"
    )


async def run(given: argparse.Namespace) -> int:
    """Race and return the exit code."""
    from samedeal_client.local.local_bots import LocalBots
    from samedeal_client.local.local_processes import race_on_local_server
    from samedeal_client.run_client import run_client

    game = game_named(given.game.lower()).name
    unattended = not terminal().is_interactive
    options = _options(given, game, unattended=unattended)
    pace = float(given.pace or (_FAST if unattended else _PACE))
    name = "spectator" if unattended else player_name(given.name)
    levels = list(islice(cycle(MIXES[given.level]), min(given.bots + unattended, 15)))

    async def race(address: ServerAddress) -> int:
        bots = LocalBots(address)

        async def enter(client: ClientSession, lines: LineIO | None) -> None:
            def warn(sentence: str) -> None:
                if lines is not None:  # a full screen shows which bots are connected
                    lines.printer.print_lines([sentence])

            room = await client.rooms.create(options)
            await (client.watch(room) if unattended else client.join(room))
            for level in levels:
                await bots.add(room, level, "", taken=(), warn=warn, pace=pace)

        try:
            return await run_client(given, address, name, enter, lasting=False, bots=bots)
        finally:
            await bots.remove_all()

    return await until_stopped(race_on_local_server(race))


def _options(given: argparse.Namespace, game: str, *, unattended: bool) -> Options:
    from samedeal.deal import Deal
    from samedeal.options import Options
    from samedeal_client.menus.new_room_fields import DEFAULT_DEAL

    limit = read_limit(given.limit or (_SHORT if unattended else _LIMIT))
    demo = game_named(game).file.demo if unattended else None
    deal = Deal.parse(given.deal or (f"#{demo}" if demo else DEFAULT_DEAL))
    players, hints, countdown = min(given.bots + 1, 16), given.hints and deal.kind != "daily", 1 if unattended else 5
    seats = {"players": players, "start": "full", "countdown": countdown, "delay": 0}
    try:
        return Options(games=(game,), deal=str(deal), limit=limit, hints=hints, **seats)
    except ValueError as error:
        raise Failure(str(error), 2) from None

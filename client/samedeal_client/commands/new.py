"""``samedeal new``: open a room."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from samedeal_client.commands.common import add_address, add_player, place_of, player_name, whole
from samedeal_client.running import Failure

if TYPE_CHECKING:
    from samedeal.options import Options
    from samedeal_client.face import Lines
    from samedeal_client.net.client import Client

DESCRIPTION = """\
Open a room and join it. It prints the line that your friends type; you are the host, and start the race when
everybody is there."""

EXAMPLES = """\
examples:
  samedeal new example.org                                a race in Willow, random deal
  samedeal new example.org --game athena --game steve     two games in turn: a rematch plays the next one
  samedeal new example.org --deal 4821 --limit 10         deal number 4821, ten minutes at most
  samedeal new example.org --deal daily --undo off        the deal of the day, without undo
  samedeal new example.org --start 20:30 --no-join        opens the room for half past eight and leaves it there
  samedeal new example.org --room friday --passphrase x   a private room with a code of your own

games: athena, steve, phoenix, ace-of-hearts, willow"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_address(parser, room=None)
    race = parser.add_argument_group("the race")
    race.add_argument("--game", action="append", metavar="GAME", help="repeatable: rematches go through them (willow)")
    race.add_argument("--deal", default="random", help="random, daily, or a number (random)")
    race.add_argument("--players", type=whole(1, 16), default=8, metavar="N", help="seats, 1 to 16 (8)")
    race.add_argument(
        "--limit", default="15", metavar="TIME", help="when it is over at the latest: 15 (minutes), 15:00 or 90s (15)"
    )
    race.add_argument(
        "--undo",
        choices=("free", "no-reveal", "off"),
        default="no-reveal",
        help="no-reveal takes back no move that turned up a new card (no-reveal)",
    )
    race.add_argument("--hints", action=argparse.BooleanOptionalAction, default=False, help="(no)")
    race.add_argument("--first-home-ends", action="store_true", help="the race is over when the first player is home")
    start = parser.add_argument_group("its start")
    start.add_argument(
        "--start",
        default="host",
        metavar="WHEN",
        help="host (says so), all-ready, full (every seat taken), or a time: 20:30, '2026-11-21 20:30', +10 minutes (host)",
    )
    start.add_argument("--countdown", type=whole(0, 60), default=3, metavar="S", help="seconds before the start (3)")
    room = parser.add_argument_group("the room")
    room.add_argument("--room", default="", metavar="CODE", help="its code: letters, digits, dashes (one is made up)")
    room.add_argument("--spectators", action=argparse.BooleanOptionalAction, default=True, help="may be watched (yes)")
    room.add_argument(
        "--delay", type=whole(0, 600), default=15, metavar="S", help="how late spectators see the boards (15)"
    )
    room.add_argument("--no-join", action="store_true", help="only open it")
    add_player(parser)


def options_of(given: argparse.Namespace) -> Options:
    """The options of the room. Raises Failure with what is wrong with them."""
    from datetime import datetime

    from samedeal.deal import Deal
    from samedeal.games import Game
    from samedeal.options import Options, StartRule
    from samedeal_client.rooms.room_fields import read_duration, read_start

    games = tuple(Game.named(game.lower()).name for game in given.game or ["willow"])
    rules: dict[str, StartRule] = {"host": "host", "all-ready": "all-ready", "full": "full"}
    try:
        limit = read_duration(given.limit)
    except ValueError as error:
        raise Failure(f"--limit {given.limit}: {error}", 2) from None
    try:
        start_at = 0 if given.start in rules else read_start(given.start, datetime.now().astimezone())
    except ValueError as error:
        raise Failure(f"--start {given.start}: {error}; or host, all-ready or full", 2) from None
    try:
        return Options(
            games=games,
            deal=str(Deal.parse(given.deal)),
            players=given.players,
            limit=limit,
            undo=given.undo,
            hints=given.hints,
            spectators=given.spectators,
            delay=given.delay,
            start=rules.get(given.start, "at"),
            start_at=start_at,
            countdown=given.countdown,
            first_home_ends=given.first_home_ends,
        )
    except ValueError as error:
        raise Failure(str(error), 2) from None


def run(given: argparse.Namespace) -> int:
    """Open a room, and join it unless told otherwise: the exit code."""
    from samedeal.names import clean_room
    from samedeal_client.face import Wishes, invitation, play_at

    address, named = place_of(given)
    code = clean_room(given.room) if given.room else named
    options = options_of(given)
    name = player_name(given.name)

    def invite(room: str) -> str:
        private = " --passphrase ..." if given.passphrase else ""
        return f"Room {room} is open. Invite with: samedeal join {invitation(address, room)}{private}"

    async def enter(client: Client, lines: Lines | None) -> None:
        room = await client.create(options, code, given.passphrase)
        if lines is not None:
            lines.printer.say([invite(room)])
        await client.join(room, given.passphrase)

    async def only_open() -> int:
        from samedeal_client.net.link import Link
        from samedeal_client.net.sessions import BriefSessions
        from samedeal_client.net.table import Table

        async with Link(address, name, BriefSessions()) as link:
            print(invite(await Table(link).create(options, code, given.passphrase)))
        return 0

    return asyncio.run(only_open() if given.no_join else play_at(address, name, Wishes.given(given), enter))

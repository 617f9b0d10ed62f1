"""``samedeal new``: open a room."""

from __future__ import annotations

import argparse
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from samedeal.command_line_help import add_rows
from samedeal_client.commands.arguments import player_name, server_and_room
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import terminal

if TYPE_CHECKING:
    from samedeal.options import Options
    from samedeal_client.run_client import LineIO
    from samedeal_link.session.client_session import ClientSession


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an argument for each option of a room to a parser."""
    race = parser.add_argument_group("race")
    for name in ("game", "deal", "players", "limit", "undo", "hints"):
        add_option(race, name)
    for name in ("first_finish_ends", "end_when_settled", "series", "repeated"):
        add_option(race, name)
    start = parser.add_argument_group("start")
    add_option(start, "start")
    window = "let everybody race when they have time, within 1h to 3d: nobody can enter after a quarter of it"
    start.add_argument("--window", default="", metavar="TIME", help=window)
    every = "make it a standing series: such a race every day, or every Friday (fri 18:00), up to 30 of them (--series)"
    start.add_argument("--every", default="", metavar='"day 18:00"', help=every)
    add_option(start, "countdown")
    room = parser.add_argument_group("room")
    room.add_argument("--room", default="", metavar="CODE", help="letters, digits, dashes (default: a random code)")
    add_option(room, "spectators")
    add_option(room, "delay")
    add_option(room, "bots")
    room.add_argument("--no-join", action="store_true", help="open the room without joining it")
    parser.set_defaults(bots=None, series=None)  # which tells what the player has not written


def add_option(group: argparse._ActionsContainer, name: str) -> None:
    """Add the argument for the room option ``name``, with the help and default of its field in ``FIELD_BY_NAME``."""
    from samedeal_client.menus.new_room_fields import FIELD_BY_NAME

    field = FIELD_BY_NAME[name]
    flag = f"--{name.replace('_', '-')}"
    text = f"{field.help} (default: {field.default})"
    if name == "game":
        group.add_argument(flag, action="append", metavar="GAME", help=text)
    elif name == "start":
        default = field.value(field.default)
        group.add_argument(flag, default=default, metavar="WHEN", help=f"{field.help} (default: {default})")
    elif field.bounds is not None:
        low, high = field.bounds
        add_rows(group, {flag: {"type": f"{low} to {high}", "help": text}})
        group.set_defaults(**{name: int(field.default)})
    elif field.choices is None:
        group.add_argument(flag, default=field.default, help=text)
    elif set(field.choices.values()) == {True, False}:
        default = field.value(field.default)
        group.add_argument(flag, action=argparse.BooleanOptionalAction, default=default, help=text)
    else:
        group.add_argument(flag, choices=tuple(field.choices), default=field.default, help=text)


@contextmanager
def _reading(argument: str, text: str, others: str = "") -> Iterator[None]:
    """Raise Failure, which tells what to write instead, if an argument is found invalid inside the context."""
    try:
        yield
    except ValueError as error:
        raise Failure(f"{argument} {text} is not valid. {error}{others}", 2) from None


def read_limit(text: str) -> int:
    """Return a time limit in seconds. Raise Failure if the text is invalid."""
    from samedeal_client.menus.option_parsing import read_duration

    with _reading("--limit", text):
        return read_duration(text)


def read_window_argument(text: str) -> int:
    """Return the length of a window in seconds, or 0. Raise Failure if the text is invalid."""
    from samedeal_client.menus.option_parsing import read_window

    with _reading("--window", text):
        return read_window(text)


def read_every_argument(given: argparse.Namespace) -> tuple[int, ...]:
    """Return when the windows of a standing series open, or nothing. Raise Failure if the text is invalid.

    Also set the number of its races.
    """
    from datetime import datetime

    from samedeal.options import LONGEST_SERIES
    from samedeal_client.menus.option_parsing import read_every

    if not given.every:
        return ()
    if not given.window:
        raise Failure("Each race of --every has a window. Say how long it is, as in --window 1d.", 2)
    if given.series == 1:
        raise Failure("--series 1 is a single race, and --every needs several. Leave one of them out.", 2)
    given.series = given.series or LONGEST_SERIES
    with _reading("--every", repr(given.every)):
        return read_every(given.every, given.series, datetime.now().astimezone())


def options_of(given: argparse.Namespace) -> Options:
    """Return the options of the room. Raise Failure if they are invalid."""
    from datetime import datetime

    from samedeal.deal import Deal
    from samedeal.games import game_named
    from samedeal.options import Options
    from samedeal_client.menus.new_room_fields import DEFAULTS
    from samedeal_client.menus.option_parsing import read_start
    from samedeal_client.text.option_wording import START_LABELS

    games = tuple(game_named(game.lower()).name for game in given.game or [DEFAULTS["game"]])
    rules = START_LABELS.keys() - {"at"}
    limit = read_limit(given.limit)
    with _reading("--start", given.start, " You can also write host, all-ready or full."):
        start_at = 0 if given.start in rules else read_start(given.start, datetime.now().astimezone())
    options = {name: value for name, value in vars(given).items() if name in Options.__struct_fields__}
    options |= {"games": games, "deal": str(Deal.parse(given.deal)), "limit": limit}
    options |= {"start": "at" if start_at else given.start, "start_at": start_at}
    if given.window and given.bots:
        raise Failure("A race with --window admits no bots. Leave out --window or --bots.", 2)
    options |= {"series": given.series or 1, "bots": not given.window if given.bots is None else given.bots}
    try:
        return Options(**options)
    except ValueError as error:
        raise Failure(str(error), 2) from None


def run(given: argparse.Namespace) -> Coroutine[Any, Any, int]:
    """Return the coroutine that opens a room, and joins it unless --no-join is given. Its result is the exit code."""
    from samedeal.errors import UnknownGame
    from samedeal.names import SERIES, clean_room
    from samedeal_client.run_client import invitation_lines, run_client

    address, named = server_and_room(given)
    code = clean_room(given.room) if given.room else named
    window, opens = read_window_argument(given.window), read_every_argument(given)
    with suppress(UnknownGame):  # the server may have the game
        options_of(given)
    name = player_name(given.name)

    def invite(room: str, *, has_page: bool) -> list[str]:
        place = f"{SERIES}{room}" if opens else room
        return invitation_lines(address, place, has_page=has_page, private=bool(given.passphrase))

    async def enter(client: ClientSession, lines: LineIO | None) -> None:
        room = await client.rooms.create(options_of(given), code, given.passphrase, window=window, opens=opens)
        if lines is not None:
            lines.printer.print_lines(invite(room, has_page=client.link.has_page))
        await client.join(room, given.passphrase)

    async def open_room() -> int:
        from samedeal_link.connection.reconnecting_link import Link
        from samedeal_link.connection.saved_sessions import MemorySessions
        from samedeal_link.session.room_client import RoomClient

        async with Link(address, name, MemorySessions()) as link:
            room = await RoomClient(link).create(options_of(given), code, given.passphrase, window=window, opens=opens)
            print(*invite(room, has_page=link.has_page), sep="\n", file=terminal().output)
        return 0

    return open_room() if given.no_join else run_client(given, address, name, enter)

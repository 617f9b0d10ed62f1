"""Arguments, passphrase prompts and error messages that several commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from samedeal.errors import MalformedText, RequestRefused, SamedealError, UnknownGame
from samedeal.names import RESERVED_WORDS, clean_name
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.address import PASSPHRASE, ServerAddress, parse_address
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import terminal

if TYPE_CHECKING:
    from samedeal_client.run_client import LineIO


def error_report(error: Exception) -> Failure:
    """Return the failure, with a message and an exit code, that an error means which has ended a command."""
    match error:
        case Failure():
            return error
        case RequestRefused(code=RefusalCode.NAME_TAKEN):
            return Failure(f"{error} Use --name, or the settings of the start screen.")
        case MalformedText() | UnknownGame():
            return Failure(str(error), 2)
        case SamedealError():
            return Failure(str(error))
        case OSError(strerror=str() as why):
            place = f"{terminal().shown_path(Path(str(error.filename)))}: " if error.filename else ""
            return Failure(f"{place}{why}.")
        case _:
            return Failure(
                f"Internal error ({type(error).__name__}: {error}). Set SAMEDEAL_DEBUG=1 to see the traceback."
            )


def add_address(parser: argparse.ArgumentParser, *, room: str | None) -> None:
    """Add the argument URL. Unless ``room`` is None, also add ROOM, with ``room`` as its help text."""
    parser.add_argument("url", metavar="URL", help="a server: host, host:port, or a ws, wss, https or samedeal URL")
    if room is not None:
        parser.add_argument("room", metavar="ROOM", nargs="?", default="", help=room)


def add_player(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the player's name, the passphrase and the display options."""
    parser.add_argument("--name", default="", help="your name in the race (default: your login name)")
    add_passphrase(parser)
    add_back_to(parser)
    add_look(parser)


def add_back_to(parser: argparse.ArgumentParser) -> None:
    """Add the hidden argument ``--back-to``: the place to which the player returns, such as ``the start screen``.

    A screen that runs a command passes this argument, so that the player returns to the screen afterwards.
    """
    parser.add_argument("--back-to", default="", help=argparse.SUPPRESS)


def add_passphrase(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the passphrase of a private room."""
    parser.add_argument(
        "--passphrase",
        default=os.environ.get(PASSPHRASE, ""),
        help=f"the passphrase of a private room (default: {PASSPHRASE}; otherwise asked for on a terminal)",
    )


def add_look(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the display options."""
    parser.add_argument(
        "--plain", action="store_true", help="print lines instead of a full screen, for example for screen readers"
    )
    parser.add_argument("--ascii", action="store_true", help="use ASCII only: 10H instead of a suit symbol")
    parser.add_argument("--four-color", action="store_true", help="show each suit in its own colour")
    parser.add_argument("--no-motion", action="store_true", help="show moves at once, without flying cards")
    parser.add_argument("--bell", action="store_true", help="ring the terminal's bell at the turns of a race")


def add_game(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the game."""
    from samedeal.games import DEFAULT_GAME

    parser.add_argument(
        "game", metavar="GAME", nargs="?", default=DEFAULT_GAME, help=f"the game (default: {DEFAULT_GAME})"
    )


def add_games(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the file of a game that is not in this release."""
    parser.add_argument("--games", metavar="FILE", default="", help="the file of a game that only the server has")


def offer_file(path: str) -> None:
    """Read the file of a game that is not in this release, if there is one. Raise Failure if it is not such a file."""
    from samedeal.games import offer

    try:
        for error in offer({Path(path).stem: Path(path).read_text("utf-8")}) if path else ():
            raise Failure(f"{path} can't be used. {error}")
    except UnicodeDecodeError:
        raise Failure(f"{path} is not UTF-8 text, so it is not the file of a game.") from None


def integer_in(low: int, high: int) -> Callable[[str], int]:
    """Return an argument type for whole numbers from ``low`` to ``high``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}.")
        return int(text)

    return read


def add_number(
    group: argparse._ActionsContainer, flag: str, bounds: tuple[int, int], default: int, text: str, metavar: str = "N"
) -> None:
    """Add an option for a whole number within ``bounds``, which are included. Its help text ends with the default."""
    text = text if "%(default)s" in text else f"{text} (default: %(default)s)"
    group.add_argument(flag, type=integer_in(*bounds), default=default, metavar=metavar, help=text)


def server_and_room(given: argparse.Namespace) -> tuple[ServerAddress, str]:
    """Return the server and the room code from URL and ROOM. The code is empty if neither names a room.

    Raise MalformedText if URL or ROOM is malformed, and Failure if they name different rooms.
    """
    from samedeal.names import clean_room

    address = parse_address(given.url)
    named = clean_room(given.room) if getattr(given, "room", "") else ""
    if named and address.room and named != address.room:
        raise Failure(
            f"The address names the room {address.room!r}, but the argument ROOM is {named!r}. Name the room only once.",
            2,
        )
    return ServerAddress(address.url), named or address.room or ""


def player_name(given: str) -> str:
    """Return the name ``given``. If it is empty, return the name in the settings or the login name.

    If the login name is a reserved word, such as ``admin``, return ``player`` instead. Raise MalformedText or Failure
    if the name is no valid player name.
    """
    from samedeal_client.saved_settings import load_settings

    if given or (given := load_settings().name):
        return clean_name(given)
    with contextlib.suppress(OSError, KeyError, ImportError, MalformedText):
        name = clean_name(terminal().user[:20])
        return "player" if name.lower() in RESERVED_WORDS else name
    raise Failure("Your login name is not a valid player name. Choose a name with --name.", 2)


async def enter_with_passphrase(enter: Callable[[str], Awaitable[None]], given: str, lines: LineIO | None) -> None:
    """Enter a room with the passphrase ``given``. If it is empty and the room needs a passphrase, ask the player.

    The line client passes ``lines``, through which the question is asked. Raise RequestRefused if the server refuses,
    and Failure if there is no terminal for the question.
    """
    try:
        return await enter(given)
    except RequestRefused as refused:
        if given or refused.code != RefusalCode.BAD_PASSPHRASE:
            raise
        if not terminal().reads_keyboard:
            raise Failure("This room has a passphrase. Give it with --passphrase.") from None
        from samedeal_client.terminal_io.line_io import ask_secret

        answer = await (lines.ask_secret if lines else ask_secret)("Passphrase: ")
        if not answer:
            raise
    return await enter(answer)

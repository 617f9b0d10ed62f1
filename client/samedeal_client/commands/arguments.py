"""Arguments, passphrase prompts and error messages that several commands share."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from samedeal.errors import MalformedText, RequestRefused, SamedealError, UnknownGame
from samedeal.names import RESERVED_WORDS, clean_name
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.address import ServerAddress, parse_address
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


def add_game(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the game."""
    from samedeal.games import DEFAULT_GAME

    parser.add_argument(
        "game", metavar="GAME", nargs="?", default=DEFAULT_GAME, help=f"the game (default: {DEFAULT_GAME})"
    )


def offer_file(path: str) -> None:
    """Read the file of a game that is not in this release, if there is one. Raise Failure if it is not such a file."""
    from samedeal.games import offer

    try:
        for error in offer({Path(path).stem: Path(path).read_text("utf-8")}) if path else ():
            raise Failure(f"{path} can't be used. {error}")
    except UnicodeDecodeError:
        raise Failure(f"{path} is not UTF-8 text, so it is not the file of a game.") from None


def server_and_room(given: argparse.Namespace) -> tuple[ServerAddress, str]:
    """Return the server and the room code from URL and ROOM. The code is empty if neither names a room.

    Raise MalformedText if URL or ROOM is malformed, and Failure if they name different rooms.
    """
    from samedeal.names import clean_place

    address = parse_address(given.url)
    named = clean_place(given.room) if getattr(given, "room", "") else ""
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

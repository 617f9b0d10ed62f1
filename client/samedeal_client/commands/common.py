"""What several commands share: arguments, secrets that are asked for, and how errors are told."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import getpass
import os
import sys
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from samedeal.errors import MalformedText, Refused, SamedealError, UnknownGame
from samedeal.names import clean_name
from samedeal_client.net.address import PASSPHRASE, Address, parse_address
from samedeal_client.running import Failure


class Said(NamedTuple):
    """What is printed of an error, and the exit code for it."""

    text: str
    code: int


def sentence_of(error: Exception) -> Said:
    """How an error is told."""
    from samedeal_client.net.dial import CannotConnect

    match error:
        case Failure(code=code):
            return Said(str(error), code)
        case CannotConnect() | Refused():
            return Said(str(error), 1)
        case MalformedText() | UnknownGame():
            return Said(str(error), 2)
        case SamedealError():
            return Said(str(error), 1)
        case OSError(strerror=str() as why):
            return Said(f"{error.filename}: {why}" if error.filename else why, 1)
        case _:
            told = f"{type(error).__name__}: {error}"
            return Said(f"a mistake of this program ({told}); with SAMEDEAL_DEBUG=1 it shows where", 1)


# ---------------------------------------------------------------- arguments


def add_address(parser: argparse.ArgumentParser, *, room: str | None) -> None:
    """Declare URL, and ROOM where ``room`` says what it is for."""
    parser.add_argument("url", metavar="URL", help="a host, host:port, ws://, wss://, samedeal:// or https:// address")
    if room is not None:
        parser.add_argument("room", metavar="ROOM", nargs="?", default="", help=room)


def add_player(parser: argparse.ArgumentParser) -> None:
    """Declare a player's name and how things look."""
    parser.add_argument("--name", default="", help="how the others see you (default: your login name)")
    add_passphrase(parser)
    add_look(parser)


def add_passphrase(parser: argparse.ArgumentParser) -> None:
    """Declare the passphrase of a private room."""
    parser.add_argument(
        "--passphrase",
        default=os.environ.get(PASSPHRASE, ""),
        help=f"of a private room (default: {PASSPHRASE}; asked for on a terminal where it is not given)",
    )


def add_look(parser: argparse.ArgumentParser) -> None:
    """Declare how things look."""
    parser.add_argument("--plain", action="store_true", help="lines instead of a full screen, as for screen readers")
    parser.add_argument("--ascii", action="store_true", help="letters for suits: 10H instead of a glyph")
    parser.add_argument("--four-color", action="store_true", help="diamonds and clubs in colours of their own")


def whole(low: int, high: int) -> Callable[[str], int]:
    """An argument that is a whole number within bounds."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}")
        return int(text)

    return read


def place_of(given: argparse.Namespace) -> tuple[Address, str]:
    """The server and the room, empty for none, of URL and ROOM. Raises MalformedText."""
    from samedeal.names import clean_room

    address = parse_address(given.url)
    named = clean_room(given.room) if getattr(given, "room", "") else ""
    if named and address.room and named != address.room:
        raise Failure(f"The address names the room {address.room}, and ROOM is {named}: give one of them", 2)
    return Address(address.url), named or address.room or ""


def player_name(given: str) -> str:
    """The name given, or the login name. Raises MalformedText."""
    if given:
        return clean_name(given)
    with contextlib.suppress(OSError, KeyError, ImportError, MalformedText):
        return clean_name(getpass.getuser()[:20])
    raise Failure("Your login name can't be used as a name here: give one with --name", 2)


# ---------------------------------------------------------------- secrets


async def asking_passphrase(
    enter: Callable[[str], Awaitable[None]], given: str, ask: Callable[[str], Awaitable[str]]
) -> None:
    """Enter a room; a passphrase that is missing is asked for on a terminal, with ``ask``. Raises Refused."""
    try:
        await enter(given)
    except Refused as refused:
        if refused.code != "bad_passphrase" or given or not sys.stdin.isatty():
            raise
        await enter(await ask("Passphrase: "))


async def ask_secret(question: str) -> str:
    """Ask on the terminal for what is not to be seen there, where nothing else reads from it."""
    return await asyncio.to_thread(getpass.getpass, question)

"""What several commands share: arguments, a client with its face, and how errors are told."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import getpass
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from samedeal.errors import MalformedText, Refused, SamedealError, UnknownGame
from samedeal.names import clean_name
from samedeal_client.address import Address, parse_address

PASSPHRASE: Final = "SAMEDEAL_PASSPHRASE"  # noqa: S105 (its name, not the word itself)
"""The environment variable for the passphrase of a private room, where arguments can be read by others."""


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failure(Exception):
    """A command that could not be done: the sentence for the player, and the exit code."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


class Said(NamedTuple):
    """What is printed of an error, and the exit code for it."""

    text: str
    code: int


def sentence_of(error: Exception) -> Said:
    """How an error is told."""
    from samedeal_client.dial import CannotConnect

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


# ---------------------------------------------------------------- running


_STOPS: Final[list[Callable[[int], None]]] = []
"""Who is told of signals, the last one first in line."""


@contextmanager
def on_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Have Ctrl-C, SIGTERM and SIGHUP call ``stop`` with the exit code that goes with each.

    Within another one it stands in its place.
    """
    loop = asyncio.get_running_loop()
    _STOPS.append(stop)
    for number in _SIGNALS:
        loop.add_signal_handler(number, _stop, 128 + number)
    try:
        yield
    finally:
        _STOPS.remove(stop)
        if not _STOPS:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


def _stop(code: int) -> None:
    _STOPS[-1](code)


async def until_stopped(work: Coroutine[Any, Any, int]) -> int:
    """Do some work to its end; a signal cancels it, and it may clean up: the exit code."""
    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with on_signals(lambda code: None if stopped.done() else stopped.set_result(code)):
        working = asyncio.create_task(work)
        await asyncio.wait((working, stopped), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        return stopped.result()


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


def is_terminal() -> bool:
    """Whether somebody sits there: standard input and output are both a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()

"""A player's client with the face that suits: a full screen on a terminal, lines elsewhere or where they are wanted."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from samedeal.errors import MalformedText
from samedeal_client.board.bindings import DEFAULT, Bindings, load_bindings
from samedeal_client.net.address import Address, parse_address
from samedeal_client.net.client import Client
from samedeal_client.net.link import Link
from samedeal_client.net.sessions import KeptSessions
from samedeal_client.places import config_home
from samedeal_client.plain import Plain
from samedeal_client.rooms.journal import Journal
from samedeal_client.running import Failure, is_terminal, on_signals
from samedeal_client.text.lines import LineReader, Printer, silent, terminal_look
from samedeal_client.text.look import Look


@dataclass(frozen=True)
class Wishes:
    """What the player wants to see."""

    plain: bool = False
    ascii_only: bool = False
    four_colour: bool = False

    @classmethod
    def given(cls, given: Namespace) -> Wishes:
        """What the command line says."""
        return cls(given.plain, given.ascii, given.four_color)


class Lines:
    """Standard input and output as lines."""

    def __init__(self, look: Look, printer: Printer, reader: LineReader | None) -> None:
        self.look = look
        self.printer = printer
        self.reader = reader

    async def ask(self, question: str) -> str:
        """A line in answer to a question, empty when there is none."""
        self.printer.say([question])
        line = await self.reader.line() if self.reader is not None else None
        return (line or "").strip()

    async def secret(self, question: str) -> str:
        """A line that is not shown while it is typed."""
        with silent(sys.stdin.fileno()):
            return await self.ask(question)


Enter = Callable[[Client, Lines | None], Awaitable[None]]


def invitation(address: Address, room: str) -> str:
    """What others type after ``samedeal join`` to come to a room."""
    link = f"samedeal://{address.typed}/{room}"
    try:
        if parse_address(link) == Address(address.url, room):
            return link
    except MalformedText:
        pass
    return f"{address.url} {room}"


async def play_at(
    address: Address, name: str, wishes: Wishes, enter: Enter, *, lasting: bool = True, back_to: str = ""
) -> int:
    """Connect under a name, enter a room (``enter`` does, with lines to ask in where there are) and play: the exit code.

    ``lasting`` says that the server goes on when this program ends, so that the player may come back; ``back_to`` names
    the server whose lobby is gone back to, instead of to this one's. Raises CannotConnect, Refused or Failure when it
    can't be done.
    """
    screen = not wishes.plain and is_terminal() and importlib.util.find_spec("textual") is not None
    look = replace(terminal_look(ascii_only=wishes.ascii_only), four_colour=wishes.four_colour)
    warnings: list[str] = []
    async with Link(address, name, KeptSessions(warnings.append)) as link:
        _tell_warnings(warnings)
        client = Client(link, journal=Journal())
        if screen:
            from samedeal_client.tui import show, with_background

            bindings = key_bindings()
            await enter(client, None)
            code = await show(client, with_background(look), bindings, back_to)
            if back_to:
                print(f"\r\x1b[KBack to {back_to} {look.glyphs.ellipsis}", end="", flush=True)
            room = client.model.room
            if lasting and room is not None and client.model.awaited:
                print(f"Your seat is kept, and the clock runs on. Come back with: {_come_back(client.link, room.room)}")
        else:
            code = await _in_lines(client, look, enter, lasting=lasting)
    _tell_warnings(warnings)
    return code


async def _in_lines(client: Client, look: Look, enter: Enter, *, lasting: bool) -> int:
    printer = Printer(sys.stdout, colour=look.colour)
    reader = LineReader(sys.stdin.fileno()) if sys.stdin is not None else None
    come_back = partial(_come_back, client.link) if lasting else None
    plain = Plain(client, look, printer, come_back, ends_with_race=not is_terminal())
    with on_signals(plain.interrupt):
        return await plain.run(reader, lambda: enter(client, Lines(look, printer, reader)))


def _come_back(link: Link, room: str) -> str:
    """What is typed to come back to one's seat in a room."""
    return f"samedeal join {invitation(link.address, room)} --name {shlex.quote(link.name)}"


def _tell_warnings(warnings: list[str]) -> None:
    for warning in warnings:
        print(f"samedeal: {warning}", file=sys.stderr)
    warnings.clear()


def key_bindings() -> Bindings:
    """The player's own keys, from ``keys.toml`` in the configuration directory. Raises Failure with what is wrong in it."""
    path = config_home() / "keys.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return DEFAULT
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path} can't be read: {error}", 2) from None
    try:
        return load_bindings(text)
    except MalformedText as error:
        raise Failure(f"{os.fspath(path)}: {error}", 2) from None

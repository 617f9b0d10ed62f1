"""A client from connecting to quitting, in full screen or line by line."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from samedeal.errors import MalformedText
from samedeal.terminal_text import printable
from samedeal_client.input.bindings import DEFAULT, Bindings
from samedeal_client.input.key_file import load_bindings
from samedeal_client.line_by_line.line_client import LineClient
from samedeal_client.local.local_bots import LocalBots
from samedeal_client.panels.race import return_text
from samedeal_client.saved_settings import load_settings, remember_server
from samedeal_client.terminal_io.kept_screen import KeptScreen
from samedeal_client.terminal_io.line_io import LineReader, Printer, terminal_look
from samedeal_client.text.appearance import Look
from samedeal_link.connection.address import ServerAddress, is_loopback_url, parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import FileSessions, MemorySessions, are_saved
from samedeal_link.errors import Failure
from samedeal_link.evidence.evidence_files import evidence_root
from samedeal_link.machine.paths import config_home
from samedeal_link.machine.signals import on_signals
from samedeal_link.machine.terminal import LineSource, terminal
from samedeal_link.records.history_file import HistoryRecorder
from samedeal_link.session.client_session import ClientSession


class LineIO:
    """Standard input and output of the line client."""

    def __init__(self, look: Look, printer: Printer, reader: LineSource | None) -> None:
        self.look = look
        self.printer = printer
        self.reader = reader

    async def ask(self, question: str) -> str:
        """Print a question and return the answer, or an empty string at the end of the input."""
        self.printer.print_lines([question])
        line = await self.reader.read_line() if self.reader is not None else None
        return (line or "").strip()

    async def ask_secret(self, question: str) -> str:
        """Print a question and return the answer, without showing the answer on the terminal."""
        with terminal().without_echo():
            return await self.ask(question)


Enter = Callable[[ClientSession, LineIO | None], Awaitable[None]]


def invitation_lines(address: ServerAddress, room: str, *, has_page: bool, private: bool = False) -> list[str]:
    """Return sentences that tell how others join a room. ``address`` is the address of the server for them."""
    command = f"samedeal join {address.typed} {room}{' --passphrase ...' if private else ''}"
    lines = [f"Room {room} is open. Others join with: {command}"]
    if has_page:
        lines = [f"Room {room} is open. Send this link: {address.page(room)}"]
        lines.append(f"It opens in any browser. In a terminal, others join with: {command}")
    if is_loopback_url(address.url):
        lines.append(f"On other machines, write this machine's address instead of {address.host}.")
    elif not address.encrypted:
        lines.append("The connection is not encrypted. Others on the network could read along and take seats.")
    return lines


async def run_client(
    given: Namespace,
    address: ServerAddress,
    name: str,
    enter: Enter,
    *,
    home: str = "",
    lasting: bool = True,
    bots: LocalBots | None = None,
    shared_address: ServerAddress | None = None,
) -> int:
    """Connect, enter a room by calling ``enter``, and play until the player quits. Return the exit code.

    ``given`` says how the client looks, and names the place that the player came from; saved settings complete it.
    ``lasting`` is true if the server keeps running after this program, so that the player can return. ``home`` is an
    argument for ``Link``, ``bots`` for ``SamedealApp``, and ``shared_address`` for ``ClientSession``.

    Raise CannotConnect if there is no connection. Raise RequestRefused if the server refuses the player or the room.
    Raise Failure if ``keys.toml`` can't be read or is invalid.
    """
    can_draw = terminal().is_interactive and terminal().environment.get("TERM") != "dumb"
    screen = not given.plain and can_draw
    saved, back_to = load_settings(), printable(given.back_to)
    look = replace(
        terminal_look(ascii_only=given.ascii or saved.ascii),
        four_colour=given.four_color or saved.four_color,
        motion=saved.motion and not given.no_motion,
    )
    sessions = FileSessions() if lasting else MemorySessions()
    async with Link(address, name, sessions, home=home, evidence_root=evidence_root()) as link:
        public = parse_address(terminal().public_url) if terminal().public_url else None
        client = ClientSession(link, shared_address=shared_address or public)
        if lasting:
            remember_server(address.typed, link.tides)
        recorder = HistoryRecorder(client)
        client.subscribe(recorder.update)
        if screen:
            from samedeal_client.full_screen.run_app import prepare_textual, show, with_background

            bindings = key_bindings()
            await enter(client, None)
            prepare_textual()
            from samedeal_client.full_screen.app import SamedealApp

            app = SamedealApp(
                *(client, with_background(look), bindings, back_to),
                lasting=lasting,
                with_bell=saved.bell or given.bell,
                bots=bots,
            )
            code = await show(app, None if lasting else partial(recorder.quit_for_good, cut_off=True))
            if not lasting:  # before anything is printed, because the terminal may be gone
                recorder.quit_for_good(cut_off=bool(code))
            if KeptScreen.is_shown:  # no need to say how to return: the start screen offers the seat
                KeptScreen.say(f"Returning to {back_to} {look.glyphs.ellipsis}")
            elif lasting and (sentence := _how_to_return(client)):
                print(sentence, file=terminal().output)
        else:
            code = await _run_line_client(client, replace(look, words=True), enter, lasting=lasting)
            if not lasting:
                recorder.quit_for_good()
    return code


async def _run_line_client(client: ClientSession, look: Look, enter: Enter, *, lasting: bool) -> int:
    printer = Printer(terminal().output, colour=look.colour, width=terminal().width)
    reader = terminal().lines or (LineReader(sys.stdin.fileno()) if sys.stdin is not None else None)
    how_to_return = partial(_how_to_return, client) if lasting else str
    line_client = LineClient(
        client, look, printer, how_to_return, lasting=lasting, ends_with_race=not terminal().is_interactive
    )
    with on_signals(line_client.interrupt):
        return await line_client.run(reader, lambda: enter(client, LineIO(look, printer, reader)))


def _how_to_return(client: ClientSession) -> str:
    """Return sentences that tell the player how to return to the seat. Without a seat, return an empty string."""
    room = client.model.room
    if room is None or not client.model.has_live_seat or not terminal().owns_process or not are_saved():
        return ""
    command = f"samedeal join {client.link.address.typed} {room.room} --name {shlex.quote(client.link.name)}"
    return return_text(client.model, command, client.now(), server_gone=client.connection.server_gone)


def key_bindings() -> Bindings:
    """Return the key bindings from ``keys.toml`` in the configuration directory.

    Without this file, return the default bindings. Raise Failure if the file can't be read or is invalid.
    """
    path = config_home() / "keys.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return DEFAULT
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(
            f"Cannot read {path}: {error.strerror if isinstance(error, OSError) else error}. Check the file.", 2
        ) from None
    try:
        return load_bindings(text)
    except MalformedText as error:
        raise Failure(f"{os.fspath(path)}: {error}", 2) from None

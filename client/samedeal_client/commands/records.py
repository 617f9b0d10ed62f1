"""``samedeal records``: list records of races, or get one."""

from __future__ import annotations

import argparse
import asyncio
import sys

from samedeal.terminal_text import printable
from samedeal_link.connection.address import parse_address
from samedeal_link.errors import Failure


def run(given: argparse.Namespace) -> int:
    """List records or get one, and return the exit code."""
    if not given.url:
        return _list_saved()
    if given.race:
        return _get(given)
    return asyncio.run(_list(given))


async def _list(given: argparse.Namespace) -> int:
    from samedeal_client.panels.records import record_list_lines
    from samedeal_client.terminal_io.line_io import terminal_look
    from samedeal_link.connection.reconnecting_link import Link
    from samedeal_link.connection.saved_sessions import MemorySessions
    from samedeal_link.session.room_client import RoomClient

    async with Link(parse_address(given.url), "visitor", MemorySessions()) as link:
        records = await RoomClient(link).records()
    if not records:
        print("There are no records yet. The server makes one when a race is over.")
        return 0
    for line in record_list_lines(records, terminal_look(ascii_only=False)):
        print(printable(line))
    return 0


def _get(given: argparse.Namespace) -> int:
    from samedeal.record import Record
    from samedeal_link.records.record_files import save_record

    data = asyncio.run(read_from_server(given.url, given.race, given.passphrase))
    record = Record.read(data)
    if given.save:
        print(f"Record saved in {save_record(record)}")
    else:
        sys.stdout.buffer.write(data)
    return 0


async def read_from_server(url: str, race: str, passphrase: str) -> bytes:
    """Return the record of ``race``. The code of a room stands for the newest race in the room.

    If ``race`` is empty, ``url`` must name the room. Raise Failure if neither names a race or a room. Raise
    RequestRefused if the server refuses the record.
    """
    from samedeal_client.commands.arguments import player_name
    from samedeal_link.connection.reconnecting_link import Link
    from samedeal_link.connection.saved_sessions import FileSessions
    from samedeal_link.session.room_client import RoomClient

    address = parse_address(url)
    wanted = race or address.room
    if not wanted:
        raise Failure(f"No race was given. To list the races of a server, write 'samedeal records {url}'.", 2)
    async with Link(address, player_name(""), FileSessions()) as link:
        return await RoomClient(link).read_record(wanted, passphrase)


def _list_saved() -> int:
    from samedeal.errors import BadRecord
    from samedeal.record import Record
    from samedeal_client.panels.records import record_heading
    from samedeal_link.records.record_files import saved_records

    files = saved_records()
    if not files:
        print("There are no records on this machine yet. One is saved after each of your races.")
    for path in files:
        try:
            what = record_heading(Record.read(path.read_bytes()))
        except BadRecord as error:
            what = str(error)
        print(printable(f"{path}  {what}", 300))
    return 0

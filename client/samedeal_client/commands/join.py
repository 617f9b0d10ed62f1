"""``samedeal join``: join a race."""

from __future__ import annotations

import argparse
from collections.abc import Coroutine
from typing import Any

from samedeal_client.commands.arguments import (
    enter_with_passphrase,
    player_name,
    server_and_room,
)
from samedeal_link.errors import Failure


def run(given: argparse.Namespace) -> Coroutine[Any, Any, int]:
    """Return the coroutine that joins. Its result is the exit code."""
    from samedeal_client.menus.start_menu import LONE_CODE, is_room_code
    from samedeal_client.panels.narration import room_lines
    from samedeal_client.run_client import LineIO, run_client
    from samedeal_link.connection.address import home_path
    from samedeal_link.connection.dial import CannotConnect
    from samedeal_link.session.client_session import ClientSession

    address, room = server_and_room(given)
    name = player_name(given.name)

    async def choose_room(client: ClientSession, lines: LineIO) -> str:
        rooms = await client.rooms.list()
        if not rooms:
            raise Failure(f"There are no public rooms on {address.typed}. Open one with samedeal new {address.typed}.")
        lines.printer.print_lines(room_lines(rooms, lines.look))
        return await lines.ask("Which room?")

    async def enter(client: ClientSession, lines: LineIO | None) -> None:
        chosen = room
        if not chosen:
            if lines is None:
                return
            chosen = await choose_room(client, lines)
            if not chosen:
                raise Failure("No room code was given. Write samedeal join URL ROOM.", 2)
        await enter_with_passphrase(lambda passphrase: client.join(chosen, passphrase), given.passphrase, lines)

    async def join() -> int:
        try:
            return await run_client(given, address, name, enter, home=home_path(room))
        except CannotConnect as error:
            if error.why == "no_host" and not room and is_room_code(given.url):
                raise CannotConnect(f"{error} {LONE_CODE}") from error
            raise

    return join()

"""``samedeal host``: host a race on this machine, and take part in it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from samedeal.games import game_named
from samedeal_client.commands.arguments import add_game, player_name
from samedeal_client.commands.new import add_option, read_limit
from samedeal_link.machine.signals import until_stopped

if TYPE_CHECKING:
    from samedeal_link.connection.address import ServerAddress

_ELSEWHERE: Final = ("192.0.2.1", 9)
"""An address on the internet that no machine has. The route to it begins at this machine's address on the network."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that depend on the games and on the options of rooms."""
    add_game(parser)
    for option in ("limit", "hints"):
        add_option(parser, option)


async def run(given: argparse.Namespace) -> int:
    """Host the race and return the exit code."""
    from samedeal.options import Options
    from samedeal_client.local.local_processes import race_on_local_server
    from samedeal_client.menus.new_room_fields import DEFAULT_DEAL
    from samedeal_client.run_client import LineIO, invitation_lines, run_client
    from samedeal_link.session.client_session import ClientSession

    game = game_named(given.game.lower()).name
    options = Options(games=(game,), deal=DEFAULT_DEAL, limit=read_limit(given.limit), hints=given.hints)
    name = player_name(given.name)

    async def host(address: ServerAddress) -> int:
        shared = shared_address(address)

        async def enter(client: ClientSession, lines: LineIO | None) -> None:
            room = await client.rooms.create(options)
            if lines is not None:
                lines.printer.print_lines(invitation_lines(shared, room, has_page=client.link.has_page))
            await client.join(room)

        return await run_client(given, address, name, enter, lasting=False, shared_address=shared)

    return await until_stopped(race_on_local_server(host, public=True))


def shared_address(address: ServerAddress) -> ServerAddress:
    """Return the address at which other machines on the network find this machine's server.

    Without a network, return ``address``.
    """
    import socket

    from samedeal_link.connection.address import parse_address

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)  # this only chooses a route, and sends nothing
        except OSError:
            return address
        return parse_address(f"ws://{probe.getsockname()[0]}:{address.port}")

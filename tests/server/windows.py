"""Races with a window between test clients."""

from __future__ import annotations

from typing import Any

from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Created, Done, Start
from tests.server.client import Client

WINDOW = 86_400


async def opened(client: Client, **fields: Any) -> str:
    """Open a room with a window. Return its code."""
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", countdown=0, limit=60)
    return (await client.expect(Created, Create, **{"options": options, "window": WINDOW, **fields})).room


async def drawn(*there: Client) -> None:
    """Close the doors as the first player, and draw the deal with the players who are there."""
    await there[0].expect(Done, Start)
    await take_part(*there)


async def take_part(*there: Client) -> None:
    """Draw the deal with the players who are there, once the doors are closed."""
    for client in there:
        state = await client.state(lambda state: len(state.drawing) == len(there))
        await client.commit(state.draw)
    for client in there:
        state = await client.state(
            lambda state: sum(bool(seat.share_commitment) for seat in state.players) == len(there)
        )
        await client.reveal(state.draw)
    for client in there:
        await client.phase("racing")

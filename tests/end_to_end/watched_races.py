"""Races that a browser watches."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from samedeal.protocol.messages import Done, Start
from tests.end_to_end.browser import Browser
from tests.server.client import Client

ROOM: Final = "friday"


async def players(url: str, *names: str, bots: int = 0, **options: Any) -> list[Client]:
    """Connect players and open a room for them, in which the last ones are bots."""
    clients = [await Client.hello(url, name, bot=i >= len(names) - bots) for i, name in enumerate(names)]
    usual = {"players": len(names), "delay": 0, "undo": "free", "end_when_settled": False}
    await clients[0].create(ROOM, **{**usual, **options})
    for client in clients:
        await client.join(ROOM)
    return clients


async def start(clients: list[Client]) -> None:
    await clients[0].expect(Done, Start)
    for client in clients:
        await client.dealt()


async def draw(clients: list[Client], number: int = 1) -> list[tuple[int, bytes]]:
    """Draw a joint deal, as the clients of players do. Return the number of each of their seats and its share.

    Other players with a seat take part on their own.
    """
    begun = await clients[0].state(lambda state: state.draw == number)
    seats = [(seat.seat, client) for seat in begun.players for client in clients if client.player == seat.player]
    for client in clients:
        await client.commit(number)
    for client in clients:
        await client.sealed(number)
        await client.reveal(number)
    return [(seat, client.share(number)) for seat, client in seats]


async def compare(browser: Browser, clients: list[Client]) -> None:
    """Compare the boards in the page with those of the players, which the server has confirmed with hashes."""
    for client in clients:
        await browser.shows_board(client.player, client.play.revision, client.play.board)


async def play_randomly(client: Client, count: int, rng: Random) -> None:
    """Make legal moves, and take some of them back."""
    for _ in range(count):
        moves = list(client.play.board.legal_moves())
        back = client.play.past and (not moves or rng.random() < 0.2)
        await client.act("undo" if back else str(rng.choice(moves)))

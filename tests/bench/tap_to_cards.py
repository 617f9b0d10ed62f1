"""How long somebody who asks for a race against bots waits, from the tap to the cards, in each game.

python -m tests.bench.tap_to_cards [--rooms N] [--at-once N] [--games GAME ...]

The server has a house of its own. Each player comes from another address, opens a room as the page does, and leaves once
the cards are there.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count

from samedeal.games import GAMES, game_named
from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Created, Done, Leave
from samedeal_server.tasks import cancel_and_wait
from tests.load.processes import load_setup, url_of
from tests.server.client import Client

_BOTS = 3


async def tap_to_cards(url: str, game: str, number: int) -> float:
    """Return the time, in seconds, until a player has cards and three rivals."""
    began = time.monotonic()
    address = {"X-Forwarded-For": f"10.0.{number // 256}.{number % 256}"}
    player = await Client.hello(url, "ana", additional_headers=address)
    limit = game_named(game).file.limit
    options = WantedOptions(games=(game,), deal="winnable", players=1 + _BOTS, start="full", countdown=2, limit=limit)
    await player.join((await player.expect(Created, Create, options=options, house=_BOTS)).room)
    drawing = asyncio.create_task(_draw(player))
    while player.revision < 0:
        with suppress(TimeoutError):
            await player.dealt()
    waited = time.monotonic() - began
    await cancel_and_wait([drawing])
    assert player.shown is not None
    assert sum(seat.house for seat in player.shown.players) == _BOTS
    await player.expect(Done, Leave)
    await player.close()
    return waited


async def _draw(player: Client) -> None:
    """Take part in each draw of the deal. A bot that is late makes another one necessary."""
    for draw in count(1):
        await player.state(lambda state, draw=draw: (state.phase, state.draw) == ("countdown", draw))  # type: ignore[misc]  # the default binds the draw
        await player.take_part(draw)


async def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.tap_to_cards", description=__doc__)
    parser.add_argument("--rooms", type=int, default=40)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=[*GAMES])
    given = parser.parse_args(arguments)
    numbers = count()
    async with load_setup() as setup:
        url = url_of(await setup.node("--house", "3", "--trusted-proxies", "127.0.0.1"))
        await until_house(url)
        print("| game | half within | 95 % within | all within |\n|---|---|---|---|")
        for game in given.games:
            turns = asyncio.Semaphore(given.at_once)

            async def wait(turns: asyncio.Semaphore = turns, game: str = game) -> float:
                async with turns:
                    return await tap_to_cards(url, game, next(numbers))

            waits = sorted(await asyncio.gather(*(wait() for _ in range(given.rooms))))
            half, most = waits[len(waits) // 2], waits[-(-95 * len(waits) // 100) - 1]
            print(f"| {game_named(game).title} | {half:.1f} s | {most:.1f} s | {waits[-1]:.1f} s |", flush=True)


async def until_house(url: str) -> None:
    """Wait until a room for a race against bots can be opened."""
    player = await Client.hello(url)
    while not isinstance(await player.ask(Create, options=WantedOptions(players=4), house=_BOTS), Created):  # noqa: ASYNC110  # nothing tells that it has come
        await asyncio.sleep(0.5)
    await player.close()


if __name__ == "__main__":
    asyncio.run(main())

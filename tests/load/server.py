"""Race on a real server, as an operator who wants to know what it bears.

    python -m tests.load.server wss://cards.example.org --racers 200 --seconds 60

Rooms of four players, who need a passphrase, are opened at the homes that the server names. The players make a random move
every two seconds (``--pace``), and resign in the end. Prints how long acks took. All players come from one address, so
raise the limits for addresses meanwhile: see deploy/README.md, *Sizing*.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
from collections.abc import Sequence

from websockets.exceptions import WebSocketException

from samedeal.board_history import Undo
from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Created, Done, Resign, Start
from tests.load.processes import ack_latencies
from tests.server.client import Client

SEATS = 4


async def race(url: str, number: int) -> list[Client]:
    """Start a race, and return its players."""
    passphrase = secrets.token_hex(8)
    options = WantedOptions(games=("athena",), deal="random", undo="free", limit=7200, players=SEATS, countdown=0)
    opener = await Client.hello(url)
    created = await opener.expect(Created, Create, options=options, passphrase=passphrase)
    await opener.close()
    players = [await Client.hello(f"{url}{created.path}", f"load-{number}-{seat}") for seat in range(SEATS)]
    for player in players:
        player.undo = Undo.FREE
        await player.join(created.room, passphrase=passphrase)
    await players[0].expect(Done, Start)
    for player in players:
        await player.dealt()
    return players


async def run(url: str, racers: int, seconds: float, pace: float) -> None:
    """Race, and print the latencies of the acks."""
    players: list[Client] = []
    for number in range(-(-racers // SEATS)):
        players += await race(url, number)
    latencies = await ack_latencies(players, seconds, pace, seed=1)
    p50, p99 = (1000 * latencies[int(share * (len(latencies) - 1))] for share in (0.5, 0.99))
    print(f"{len(players)} racers, {len(latencies) / seconds:.0f} moves/s: acks p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    for player in players:
        await player.expect(Done, Resign)
        await player.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.load.server", description=__doc__)
    parser.add_argument("url", metavar="URL", help="ws:// or wss://, as players have it")
    parser.add_argument("--racers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pace", type=float, default=2.0, help="seconds between two moves of a player, on average")
    given = parser.parse_args(arguments)
    try:
        asyncio.run(run(given.url.rstrip("/"), given.racers, given.seconds, given.pace))
    except (OSError, WebSocketException) as error:
        parser.exit(1, f"{parser.prog}: {given.url} cannot be used: {error}\n")
    except AssertionError as error:
        refusal = error.args[0]
        parser.exit(1, f"{parser.prog}: {refusal.message} Raise the limits for addresses meanwhile ({refusal.code}).\n")


if __name__ == "__main__":
    main()

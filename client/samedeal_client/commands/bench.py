"""``samedeal bench``: put a load on a server and measure how long it takes to acknowledge moves."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from typing import Final

from samedeal_client.commands.common import add_address, integer_in

DESCRIPTION = """\
Let racers who make random moves put a load on a server, and measure how long its acks take. They play in rooms of four, and
leave at the end. Their races are recorded like any others. Only use this on a server that you host."""

EXAMPLES = """\
examples:
  samedeal bench localhost
  samedeal bench example.org --racers 100 --pace 1 --seconds 60

The server's CPU time is not measured: watch it on the server meanwhile."""

_MOST_RACERS: Final = 10_000
_MOST_SECONDS: Final = 3600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal bench``."""
    add_address(parser, room=None)
    parser.add_argument(
        "--racers", type=integer_in(1, _MOST_RACERS), default=64, metavar="N", help="number of racers (default: 64)"
    )
    parser.add_argument(
        "--pace",
        type=integer_in(0, 100),
        default=2,
        metavar="N",
        help="moves per second of each racer (default: 2); with 0 each move follows the ack of the one before",
    )
    parser.add_argument(
        "--seconds", type=integer_in(1, _MOST_SECONDS), default=10, metavar="N", help="duration (default: 10)"
    )
    parser.add_argument(
        "--seed", type=integer_in(0, 1 << 32), default=1, metavar="N", help="number that decides all moves (default: 1)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON, with times in seconds")


def run(given: argparse.Namespace) -> int:
    """Measure, print the result, and return the exit code."""
    from samedeal_client.load_generator import LoadGenerator, LoadResult
    from samedeal_client.net.address import parse_address

    address = parse_address(given.url)

    async def measure() -> LoadResult:
        generator = LoadGenerator(address, given.racers, given.seed)
        try:
            await generator.connect()
            generator.prepare(2 * given.seconds * given.pace)
            return await generator.measure(given.seconds, given.pace)
        finally:
            generator.leave()

    load = asyncio.run(measure())
    if given.json:
        print(json.dumps(asdict(load)))
    else:
        print(f"Moves         {load.moves}, {load.moves / load.seconds:.0f} a second")
        print(f"Time to ack   median {1000 * load.median:.1f} ms, 99 % within {1000 * load.p99:.1f} ms")
        print(f"On the wire   {load.bytes_per_move:.0f} bytes a move")
    return 0

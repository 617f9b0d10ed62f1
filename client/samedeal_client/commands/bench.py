"""``samedeal bench``: put a load on a server and measure how long it takes to acknowledge moves."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict

from samedeal_client.commands.common import add_address, add_number

DESCRIPTION = """\
Let racers who make random moves put a load on a server, and measure how long its acks take. They play in rooms of four, and
leave at the end. Their races are recorded like any others. Only use this on a server that you host."""

EXAMPLES = """\
examples:
  samedeal bench localhost
  samedeal bench example.org --racers 100 --pace 1 --seconds 60

The server's CPU time is not measured: watch it on the server meanwhile."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal bench``."""
    add_address(parser, room=None)
    pace = "moves per second of each racer (default: %(default)s); with 0 each move follows the ack of the one before"
    add_number(parser, "--racers", (1, 10_000), 64, "number of racers")
    add_number(parser, "--pace", (0, 100), 2, pace)
    add_number(parser, "--seconds", (1, 3600), 10, "duration")
    add_number(parser, "--seed", (0, 1 << 32), 1, "number that decides all moves")
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

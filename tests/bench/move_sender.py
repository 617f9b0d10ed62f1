"""A load generator in a process of its own, which measures on demand.

    python -m tests.bench.move_sender URL RACERS SEATS SEED {race|split|echo}

The racers are those of ``load_generator.py``, with ``SEATS`` of them in a room. With ``split``, the racers of a room
are on any process of the server. Against an echo server they send the same frames and take each echo as an ack.
The process prints ``ready`` when the races have begun. A line ``SECONDS PACE`` on its standard input starts a measurement:
each racer moves ``PACE`` times a second, or, if it is 0, as soon as the last move is acked. The result is a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from dataclasses import asdict
from typing import Final

import uvloop

from samedeal_link.connection.address import parse_address
from tests.bench.load_generator import LoadGenerator

_PREPARED: Final = 10_000
"""Number of moves that all racers prepare before a measurement. Further moves are prepared when they are sent."""


async def main(url: str, racers: str, seats: str, seed: str, target: str) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    generator = LoadGenerator(
        parse_address(url), int(racers), int(seed), seats=int(seats), echo=target == "echo", split=target == "split"
    )
    await generator.connect()
    generator.prepare(_PREPARED // int(racers))
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        seconds, pace = map(float, line.split())
        print(json.dumps(asdict(await generator.measure(seconds, pace))), flush=True)
        generator.prepare(_PREPARED // int(racers))
        print("ready", flush=True)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))

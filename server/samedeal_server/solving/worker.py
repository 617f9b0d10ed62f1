"""A process that tries candidates for joint and daily deals, one for each line that it reads.

A node writes a ``Candidate`` as JSON. The worker answers with the winning moves, or with an empty line. A worker keeps
nothing from one candidate to the next, so a node can replace a worker that ended. When the node ends, so does the
worker's input, and the worker ends after the candidate that it is trying.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from typing import IO, Final

import msgspec
from msgspec import Struct

from samedeal.games import Game
from samedeal.joint_deal import won_candidates

MEMORY: Final = 1 << 30
"""Maximum memory of a worker, in bytes. A search needs about 25 MB for each 100,000 states."""

_NICENESS: Final = 10
"""Workers leave the processor to the node and to the store."""


class Candidate(Struct, frozen=True):
    """A candidate for a deal. ``budget`` and ``least`` are the most and the least states that the solver may need."""

    mixed: bytes
    game: str
    budget: int
    number: int
    least: int = 1


def winning_line(candidate: Candidate) -> str:
    """Return the moves that win a candidate, or an empty text if the solver does not win it within these limits."""
    game = Game.named(candidate.game)
    won = next(won_candidates(candidate.mixed, game, candidate.budget, (candidate.number,), candidate.least), None)
    return ", ".join(map(str, won.line)) if won else ""


def work(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer each request until there are no more."""
    for request in requests:
        answers.write(winning_line(msgspec.json.decode(request, type=Candidate)).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Limit the priority and the memory of this process, and answer requests until the node ends."""
    with suppress(OSError):  # a service manager may forbid it
        os.nice(_NICENESS)
    with suppress(ValueError, OSError):  # a lower limit is in force, or the service manager forbids it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with suppress(BrokenPipeError):
        work(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()

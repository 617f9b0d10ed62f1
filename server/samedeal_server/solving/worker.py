"""A process that tries candidates for joint and daily deals.

The first line that a node writes has the games that it offers, and each further line is a ``Candidate``, all as JSON. The
worker answers each candidate with a line of winning moves, or with an empty line. A worker remembers nothing between
candidates, so a node can replace a worker that ended. When the node ends, the worker reads the end of its input, and ends
as well.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from typing import IO, Final

import msgspec
from msgspec import Struct

from samedeal.games import game_named, offer
from samedeal.joint_deal import won_candidates

MEMORY: Final = 1 << 30
"""Maximum memory of a worker, in bytes. A search needs about 25 MB for each 100,000 states."""


class Candidate(Struct, frozen=True):
    """A candidate for a deal.

    The solver may search at most ``budget`` states. If it wins with fewer than ``least`` states, the candidate is
    too easy and does not count as won. ``mixed`` is the hash that decides the sequence of candidates. ``number`` is the
    candidate's place in this sequence.
    """

    mixed: bytes
    game: str
    budget: int
    number: int
    least: int = 1


def winning_line(candidate: Candidate) -> str:
    """Return the moves with which the solver wins a candidate.

    Return an empty text if the solver does not win within the limits of the candidate.
    """
    game = game_named(candidate.game)
    won = next(won_candidates(candidate.mixed, game, candidate.budget, (candidate.number,), candidate.least), None)
    return ", ".join(map(str, won.line)) if won else ""


def work(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Learn which games the node offers, and answer requests until there are no more."""
    offer(msgspec.json.decode(requests.readline(), type=dict[str, str]))
    for request in requests:
        answers.write(winning_line(msgspec.json.decode(request, type=Candidate)).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Lower the priority of this process by its argument, limit its memory, and answer requests until the node ends."""
    with suppress(OSError):  # a service manager may forbid it
        os.nice(int(sys.argv[1]))
    with suppress(ValueError, OSError):  # a lower limit is in force, or the service manager forbids it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with suppress(BrokenPipeError):
        work(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()

"""``samedeal engine``: a bot of this release as an engine."""

from __future__ import annotations

import argparse
import sys

from samedeal_link.errors import Failure
from samedeal_link.solving.bot_levels import ALL_LEVELS, LEVELS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal engine``."""
    parser.add_argument("level", metavar="LEVEL", choices=ALL_LEVELS, help=f"one of {', '.join(LEVELS)}")


def run(given: argparse.Namespace) -> int:
    """Answer lines until ``quit`` or the end of the input, and return the exit code."""
    from samedeal_bots.built_in_engine import BuiltInEngine

    engine = BuiltInEngine(given.level)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        try:
            for answer in engine.answer(line.strip()):
                print(answer, flush=True)
        except (LookupError, ValueError, ZeroDivisionError):
            raise Failure(f"{line[:60]!r} is not a line of the engine protocol. See shared/ENGINES.md.") from None
    return 0

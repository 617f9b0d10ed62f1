"""``samedeal serve``: host races."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence

DESCRIPTION = "Host races: the same as samedeal-server, with all of its options."
EXAMPLES = ""


def serve(arguments: Sequence[str]) -> int:
    """Become the server, with these arguments; returns only when it isn't there: the exit code."""
    for module in ("samedeal_server", "websockets", "redis", "structlog"):
        if importlib.util.find_spec(module) is None:
            print(f"samedeal: the server needs {module}: pip install samedeal", file=sys.stderr)
            return 1
    sys.stdout.flush()
    return os.execv(sys.executable, [sys.executable, "-m", "samedeal_server.serve", *arguments])  # noqa: S606 (ourselves)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take everything: the server reads it."""
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see samedeal serve --help")


def run(given: argparse.Namespace) -> int:
    """Become the server."""
    return serve(given.arguments)

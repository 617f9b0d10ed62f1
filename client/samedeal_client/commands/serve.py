"""``samedeal serve``: run a server."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence

DESCRIPTION = "Run a server. The same as samedeal-server, with all its options."
EXAMPLES = ""


def serve(arguments: Sequence[str]) -> int:
    """Replace this process by the server. If the server is not installed, return an exit code."""
    for module in ("samedeal_server", "websockets", "redis", "structlog"):
        if importlib.util.find_spec(module) is None:
            from samedeal_client.local_checks import REINSTALL

            print(f"samedeal: The server needs {module}. To get it, {REINSTALL}.", file=sys.stderr)
            return 1
    sys.stdout.flush()
    return os.execv(sys.executable, [sys.executable, "-m", "samedeal_server", "serve", *arguments])  # noqa: S606 (our own program)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept any arguments. The server parses them."""
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see samedeal serve --help")


def run(given: argparse.Namespace) -> int:
    """Replace this process by the server. If the server is not installed, return an exit code."""
    return serve(given.arguments)

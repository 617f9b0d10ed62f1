"""The command ``samedeal-server``: a node from a command line."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import samedeal

_EPILOG = """\
examples:
  samedeal-server                                  host races for this machine; Redis is started and kept with it
  samedeal-server --host 0.0.0.0                   host races for everybody who can reach port 7777
  samedeal-server --redis redis://10.0.0.5:6379/0  one of several nodes on one Redis

SIGTERM or Ctrl-C drains: clients are told to resume elsewhere, and races in flight stay in Redis.
Exit codes: 0 stopped, 1 could not start or go on (the reason is printed), 2 bad usage.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from samedeal_server.config import DEFAULT_PORT, default_data

    command = argparse.ArgumentParser(
        prog="samedeal-server",
        description="Host races: everyone gets the same deal, the first one home wins.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--version", action="version", version=f"samedeal {samedeal.__version__}")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    command.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="port, 0 for any free one (default: %(default)s)"
    )
    command.add_argument("--redis", default="", metavar="URL", help="the Redis of all nodes (default: start one here)")
    command.add_argument(
        "--data",
        type=Path,
        default=default_data(),
        metavar="DIR",
        help="where the Redis started here keeps its data (default: %(default)s)",
    )
    command.add_argument(
        "--durability",
        choices=("always", "everysec"),
        default="always",
        help="whether a move is on disk before it is acked, or a second later (default: %(default)s)",
    )
    command.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info", help="(default: %(default)s)"
    )
    command.add_argument(
        "--log-style",
        choices=("auto", "json", "pretty"),
        default="auto",
        help="JSON lines, or pretty ones; auto is pretty on a terminal (default: %(default)s)",
    )
    command.add_argument(
        "--announce", action="store_true", help="print 'listening on ADDRESS' to standard output once clients can come"
    )
    return command


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 0 to 65535")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a node; returns the exit code."""
    given = parser().parse_args(arguments)
    try:
        from samedeal_server.app import node_name, run
        from samedeal_server.errors import StartupError
    except ModuleNotFoundError as error:
        print(f"samedeal-server needs {error.name}: pip install 'samedeal[server]'", file=sys.stderr)
        return 1
    from samedeal_server import logs
    from samedeal_server.config import Config

    config = Config(
        host=given.host,
        port=given.port,
        redis=given.redis,
        data=given.data,
        durability=given.durability,
        log_level=given.log_level,
        log_style=given.log_style,
    )
    node = node_name()
    logs.set_up(config.log_level, config.log_style, node)

    def announce(address: str) -> None:
        if given.announce:
            print(f"listening on {address}", flush=True)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(run(config, node, announce))
    except StartupError as error:
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        print(f"samedeal-server: {error.code}: {error}", file=sys.stderr)
        return 1
    return 0


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop

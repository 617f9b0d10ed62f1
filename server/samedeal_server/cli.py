"""The command ``samedeal-server``: a node from a command line."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from samedeal.protocol.versions import versions
from samedeal_server.config import OTHER_VARIABLES, Config
from samedeal_server.settings import BadSetting, Reading, add_flags, describe, read

NAME = "samedeal-server"

_EXAMPLES = (
    ("", "host races for this machine; Redis is started and kept with it"),
    (" --host 0.0.0.0", "host races for everybody who can reach port 7777"),
    (" --redis redis://10.0.0.5:6379/0", "one of several nodes on one Redis"),
    (" --config samedeal.toml", "settings from a file; --print-config writes one"),
    (" restore samedeal.backup", "put a backup into an empty store; restore --help tells more"),
)

_EPILOG = """\
samedeal-server and samedeal serve are the same.

Each setting is a flag, an environment variable and a key of the file; the flag goes first, then the variable, then the file.

SIGTERM or Ctrl-C drains: clients are told to resume elsewhere, and races in flight stay in Redis. SIGHUP reads the
limits, the log level and the certificate again.
Exit codes: 0 stopped, 1 could not start or go on (the reason is printed), 2 bad usage.
"""


def parser(name: str = NAME) -> argparse.ArgumentParser:
    """The command line, under the name by which it was called."""
    examples = "".join(f"  {name + words:<{len(NAME) + 34}} {told}\n" for words, told in _EXAMPLES)
    command = argparse.ArgumentParser(
        prog=name,
        description="Host races: everyone gets the same deal, the first one home wins.",
        usage=f"{name} [--config FILE] [--print-config] [--SETTING VALUE ...]",
        epilog=f"examples:\n{examples}\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("--version", action="version", version=versions())
    command.add_argument(
        "--config", metavar="FILE", help="a TOML file with settings, named as the flags are (SAMEDEAL_CONFIG)"
    )
    command.add_argument(
        "--print-config",
        action="store_true",
        help="print each setting with where it comes from, as such a file, and end",
    )
    add_flags(command, Config)
    return command


def read_config(given: argparse.Namespace) -> Reading[Config]:
    """The settings that a command line, the environment and the configuration file come to. Raises BadSetting."""
    path = given.config or os.environ.get("SAMEDEAL_CONFIG")
    file = None
    if path:
        try:
            file = (path, Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise BadSetting(f"The configuration file {path} can't be read: {why}") from None
    return read(Config, vars(given), os.environ, file, OTHER_VARIABLES)


def main(arguments: Sequence[str] | None = None, name: str = NAME) -> int:
    """Run a node; returns the exit code. ``name`` is how it was called."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["restore"]:
        from samedeal_server import restore

        return restore.main(words[1:], name)
    command = parser(name)
    given = command.parse_args(words)
    try:
        reading = read_config(given)
    except BadSetting as error:
        command.error(str(error))
    if given.print_config:
        print(describe(reading), end="")
        return 0
    config = reading.values
    try:
        from samedeal_server.app import node_name, run
        from samedeal_server.errors import StartupError
    except ModuleNotFoundError as error:
        print(f"{name} needs {error.name}: pip install samedeal", file=sys.stderr)
        return 1
    from samedeal_server import logs, supervisor
    from samedeal_server.greeting import Doors, greeting

    node = node_name()
    logs.set_up(config, node)

    def announce(found: Doors, health: str) -> None:
        supervisor.tell("READY=1")
        if config.announce:
            print(f"listening on {found.here}", flush=True)
        elif logs.is_pretty(config):
            print(f"\n{greeting(config, found, health)}\n", flush=True)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(run(config, node, announce, lambda: read_config(given).values))
    except StartupError as error:
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        print(f"{name}: {error.code}: {error}", file=sys.stderr)
        return 1
    return 0


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop

"""The command ``samedeal``. Each command is a module of ``commands``, imported only when it is asked for."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final, Protocol, cast

COMMANDS: Final = {
    "play": "a race on this machine, against bots",
    "join": "join a race, or come back to it",
    "watch": "watch a race, late",
    "rooms": "list the rooms of a server",
    "new": "open a room and join it",
    "bot": "a bot that joins a race",
    "serve": "host races",
    "admin": "look after a server",
    "rules": "the rules of a game",
    "doctor": "what works in this terminal and on this network",
    "completion": "what a shell needs to complete these",
}

_CODES: Final = (
    "exit codes: 0 done, 1 it could not be done (the reason is printed), 2 bad usage, 130 stopped with Ctrl-C."
)

_EPILOG: Final = f"""\
examples:
  samedeal play                        a race against three bots; no server, no set-up
  samedeal play steve --level careful  against good ones, in another game
  samedeal new example.org             open a room; it prints the line that your friends type
  samedeal join example.org friday     join the room friday
  samedeal serve --host 0.0.0.0        host races for everybody who can reach this machine

samedeal COMMAND --help tells more of each.

environment:
  SAMEDEAL_PASSPHRASE  the passphrase of a private room; arguments can be read by others on this machine
  SAMEDEAL_DEBUG       if it is set, errors show where they come from
  SAMEDEAL_REDIS_SERVER  the redis-server or valkey-server to run here, where it is not to be looked for
  NO_COLOR             if it is set, there are no colours: marks are shown as signs
  XDG_CONFIG_HOME      where the key bindings are, in samedeal/
  XDG_DATA_HOME        where the records of one's races are kept, and the races that are hosted here
  XDG_STATE_HOME       where it is kept who one is on each server, to come back
  HTTPS_PROXY, NO_PROXY  a proxy on the way to servers, and which need none

{_CODES}
"""


class Command(Protocol):
    """A module of ``commands``."""

    DESCRIPTION: str
    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, given: argparse.Namespace) -> int:
        """Do it: the exit code."""
        ...


def _command(name: str) -> Command:
    return cast("Command", importlib.import_module(f"samedeal_client.commands.{name}"))


class _Version(argparse.Action):
    """Prints the versions, which take longer to load than the help does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from samedeal.protocol.versions import versions

        print(versions())
        parser.exit()


def parser(*wanted: str) -> argparse.ArgumentParser:
    """The command line, with the arguments of the wanted commands."""
    samedeal_parser = argparse.ArgumentParser(
        prog="samedeal",
        description="Races in solitaire games: everyone gets the same deal, the first one home wins.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    samedeal_parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of the program, the protocol and the rules"
    )
    commands = samedeal_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, words in COMMANDS.items():
        if name in wanted:
            command = _command(name)
            sub = commands.add_parser(
                name,
                help=words,
                description=command.DESCRIPTION,
                epilog=command.EXAMPLES
                if "exit codes:" in command.EXAMPLES.lower()
                else f"{command.EXAMPLES}\n\n{_CODES}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            command.add_arguments(sub)
        else:
            commands.add_parser(name, help=words)
    return samedeal_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    wanted = next((word for word in given if not word.startswith("-")), "")
    if given[:1] == ["serve"]:
        from samedeal_client.commands.serve import serve

        return serve(given[1:])
    if wanted == "admin":
        from samedeal_client.commands.admin import with_url

        given = with_url(given)
    parsed = parser(wanted).parse_args(given)
    try:
        return _command(parsed.command).run(parsed)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has gone: nothing can be said to them, not even by the flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        from samedeal_client.commands.common import sentence_of

        said = sentence_of(error)
        if said is None:
            raise
        from samedeal.names import printable

        print(printable(f"samedeal: {said.text}", 2000), file=sys.stderr)
        return said.code

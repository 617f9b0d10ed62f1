"""``samedeal completion``: completion scripts for shells."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from samedeal.games import GAMES

DESCRIPTION = """\
Print a script that makes a shell complete commands, options and arguments of samedeal and samedeal-server with the Tab
key."""

EXAMPLES = """\
examples:
  eval "$(samedeal completion bash)"        in ~/.bashrc
  eval "$(samedeal completion zsh)"         in ~/.zshrc, after compinit
  samedeal completion fish | source         in ~/.config/fish/config.fish"""

_ASK_SERVER: Final = """
import json
from samedeal_server.cli import parser
declared = [each for each in parser()._actions if each.dest != "help"]
print(json.dumps([[each.option_strings, each.help, each.metavar, each.nargs] for each in declared]))
"""
"""A program for another process, because the client must not import the server. It prints the server's options."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal completion``."""
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def run(given: argparse.Namespace) -> int:
    """Print the script and return the exit code."""
    import shtab

    from samedeal_client.cli import COMMANDS, parser

    client = parser(*COMMANDS)
    server = argparse.ArgumentParser(prog="samedeal-server")
    serve = _commands(client)["serve"]
    serve._actions.pop()  # noqa: SLF001 (argparse cannot remove an argument; the server's flags replace it)
    for flags, description, metavar, nargs in _server_flags():
        for each in (server, serve):
            if nargs == 0:
                each.add_argument(*flags, help=description, action="store_true")
            else:
                each.add_argument(*flags, help=description, metavar=metavar, nargs=nargs)
    for name, command in _commands(client).items():
        command.description = COMMANDS[name]
    for each in (client, server, *_commands(client).values()):
        _set_completions(each, shtab)
    for each in (client, server):
        print(shtab.complete(each, shell=given.shell))
    return 0


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = parser._actions  # noqa: SLF001 (argparse has no public access to its arguments, and shtab uses the same)
    return {name: sub for each in actions if isinstance(each.choices, dict) for name, sub in each.choices.items()}


def _server_flags() -> Iterator[tuple[list[str], str, str | None, str | int | None]]:
    asked = subprocess.run(  # noqa: S603 (this very Python)
        [sys.executable, "-c", _ASK_SERVER], capture_output=True, text=True, timeout=60, check=False
    )
    if asked.returncode:
        print("samedeal: cannot load the server. Its options are not completed.", file=sys.stderr)
        return
    yield from json.loads(asked.stdout)


def _set_completions(parser: argparse.ArgumentParser, shtab: Any) -> None:
    """Tell shtab which values to complete for each metavar of a parser."""
    for action in parser._actions:  # noqa: SLF001 (as above)
        match action.metavar:
            case str(choices) if "|" in choices and choices.islower():
                action.choices = choices.split("|")
            case "GAME":
                action.choices = list(GAMES)
            case "FILE":
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab reads this attribute
            case "DIR":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as above
            case _:
                pass

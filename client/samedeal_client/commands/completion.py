"""``samedeal completion``: what a shell needs to complete the command lines of samedeal and samedeal-server."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from samedeal.games import GAMES

DESCRIPTION = """\
Print what a shell needs to complete the command lines of samedeal and samedeal-server with the Tab key: commands,
options, and what can stand after them."""

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
"""The server is asked in a process of its own: the client knows nothing of it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def run(given: argparse.Namespace) -> int:
    """Print them: the exit code."""
    import shtab

    from samedeal_client.cli import COMMANDS, parser

    client = parser(*COMMANDS)
    server = argparse.ArgumentParser(prog="samedeal-server")
    serve = _commands(client)["serve"]
    serve._actions.pop()  # noqa: SLF001 (whatever stands after it: the flags are told one by one here)
    for flags, words, metavar, nargs in _server_flags():
        for each in (server, serve):
            if nargs == 0:
                each.add_argument(*flags, help=words, action="store_true")
            else:
                each.add_argument(*flags, help=words, metavar=metavar, nargs=nargs)
    for name, command in _commands(client).items():
        command.description = COMMANDS[name]
    for each in (client, server, *_commands(client).values()):
        _say_what_is_taken(each, shtab)
    for each in (client, server):
        print(shtab.complete(each, shell=given.shell))
    return 0


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = parser._actions  # noqa: SLF001 (argparse has no other way to look at what was declared, nor has shtab)
    return {name: sub for each in actions if isinstance(each.choices, dict) for name, sub in each.choices.items()}


def _server_flags() -> Iterator[tuple[list[str], str, str | None, str | int | None]]:
    asked = subprocess.run(  # noqa: S603 (this very Python)
        [sys.executable, "-c", _ASK_SERVER], capture_output=True, text=True, timeout=60, check=False
    )
    if asked.returncode:
        print("samedeal: the server can't be asked for its options: they won't be completed", file=sys.stderr)
        return
    yield from json.loads(asked.stdout)


def _say_what_is_taken(parser: argparse.ArgumentParser, shtab: Any) -> None:
    """What can stand for a metavar."""
    for action in parser._actions:  # noqa: SLF001 (as above)
        match action.metavar:
            case str(choices) if "|" in choices and choices.islower():
                action.choices = choices.split("|")
            case "GAME":
                action.choices = list(GAMES)
            case "FILE":
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
            case "DIR":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as above

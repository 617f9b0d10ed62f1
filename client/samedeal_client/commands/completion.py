"""``samedeal completion``: completion scripts for shells."""

from __future__ import annotations

import argparse
from typing import Any

from samedeal.games import GAMES

DESCRIPTION = "Print a script that makes a shell complete commands, options and arguments of samedeal with the Tab key."

EXAMPLES = """\
examples:
  eval "$(samedeal completion bash)"        in ~/.bashrc
  eval "$(samedeal completion zsh)"         in ~/.zshrc, after compinit
  samedeal completion fish | source         in ~/.config/fish/config.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal completion``."""
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def run(given: argparse.Namespace) -> int:
    """Print the script and return the exit code."""
    import shtab

    from samedeal_client.cli import COMMANDS, parser

    client = parser(*COMMANDS)
    for name, command in _commands(client).items():
        command.description = COMMANDS[name]
    for each in (client, *_commands(client).values()):
        _set_completions(each, shtab)
    print(shtab.complete(client, shell=given.shell))
    return 0


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = parser._actions  # noqa: SLF001 (argparse has no public access to its arguments, and shtab uses the same)
    return {name: sub for each in actions if isinstance(each.choices, dict) for name, sub in each.choices.items()}


def _set_completions(parser: argparse.ArgumentParser, shtab: Any) -> None:
    """Tell shtab which values to complete for each metavar of a parser."""
    for action in parser._actions:  # noqa: SLF001 (as above)
        match action.metavar:
            case "GAME":
                action.choices = list(GAMES)
            case "FILE":
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab reads this attribute
            case _:
                pass

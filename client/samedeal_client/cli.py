"""The command line ``samedeal``: a table of its commands. The module of a command is imported only when the command runs."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
import tomllib
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from importlib import resources
from typing import Any, Final, NamedTuple, Protocol, cast

from samedeal.command_line_help import HelpFormatter, add_rows


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("samedeal_client.commands").joinpath(name).read_text("utf-8"))


class Subcommand(NamedTuple):
    """A row of ``commands.toml``, which says what each of these is. The program itself has no module."""

    description: str
    examples: str = ""
    module: str = ""
    summary: str = ""
    arguments: tuple[str, ...] = ()
    reads_all: bool = False

    def help_texts(self, **words: str) -> dict[str, Any]:
        """Return the texts before and after the arguments in the help of the command, with ``words`` in its examples."""
        examples = self.examples.format(**words)
        epilog = examples if "exit codes:" in examples.lower() else f"{examples}\n\n{_CODES}"
        return {"description": self.description, "epilog": epilog}


COMMANDS: Final = {name: Subcommand(**row) for name, row in _table("commands.toml").items()}
_PROGRAM: Final = COMMANDS.pop("samedeal")

_CODES: Final = (
    "exit codes: 0 success, 1 failure (the reason is printed), 2 bad usage, 3 a race that was not fully checked, "
    "130 interrupted with Ctrl-C."
)


class CommandModule(Protocol):
    """The parts that the module of every command has.

    It may also have the functions ``add_arguments``, which adds arguments to a parser, and ``expand``, which returns the
    command line with what the command adds to it.
    """

    def run(self, given: argparse.Namespace) -> int | Coroutine[Any, Any, int]:
        """Run the command and return the exit code, or return a coroutine that does so.

        ``given.start_command`` is the function of this module, for commands that run others.
        """
        ...


def _command(name: str) -> CommandModule:
    return cast("CommandModule", importlib.import_module(COMMANDS[name].module))


def expand(arguments: Sequence[str]) -> list[str]:
    """Return a command line with what its command adds to it, such as a URL from the environment."""
    name = _wanted(arguments)
    add = getattr(_command(name), "expand", None) if name in COMMANDS else None
    return [*arguments] if add is None else add(arguments)


def _wanted(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")


class _Version(argparse.Action):
    """The option ``--version``. It imports the versions only when used, which keeps the help fast."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from samedeal.versions import versions

        print(versions())
        parser.exit()


class _CommandParser(argparse.ArgumentParser):
    """Lets an argument that may be left out, such as ROOM, come after an option. Before 3.13, Python takes it too early."""

    _is_inner = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._is_inner or self._subparsers:
            return super().parse_known_args(args, namespace)
        self._is_inner = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_inner = False


def game_words() -> dict[str, str]:
    """Return the names of games for the examples of commands."""
    from samedeal.games import DEFAULT_GAME, GAMES

    first, second, *_ = GAMES
    return {"default": DEFAULT_GAME, "first": first, "second": second, "games": ", ".join(GAMES)}


def parser(*wanted: str) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the arguments of the commands in ``wanted``."""
    from samedeal_link.connection.address import PASSPHRASE

    samedeal_parser = argparse.ArgumentParser(prog="samedeal", formatter_class=HelpFormatter, **_PROGRAM.help_texts())
    samedeal_parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of the program, the protocol and the rules"
    )
    commands = samedeal_parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, command in COMMANDS.items():
        texts = command.help_texts(**game_words()) if name in wanted else {}
        sub = commands.add_parser(name, help=command.summary, formatter_class=HelpFormatter, **texts)
        if name in wanted:
            getattr(_command(name), "add_arguments", lambda _: None)(sub)
            groups = _table("arguments.toml")
            for group in command.arguments:
                add_rows(sub, groups[group], {"integer": int})
            sub.set_defaults(passphrase=os.environ.get(PASSPHRASE, ""))
    return samedeal_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. What is wrong with a standard stream is told in one sentence."""
    streams = {"input": (sys.stdin, "<"), "output": (sys.stdout, ">"), "error output": (sys.stderr, "2>")}
    for name, (stream, sign) in streams.items():
        if stream is None:  # the next file or connection would take its place
            return _tell(f"The {name} is closed. Write {sign}/dev/null, and everything that needs no {name} works.")
    try:
        return _main(arguments)
    except OSError as error:
        return _discard_output(error)
    finally:
        try:
            sys.stderr.flush()
            sys.stdout.flush()
        except OSError as error:
            raise SystemExit(_discard_output(error)) from None


def _tell(sentence: str) -> int:
    with suppress(OSError):
        print(f"samedeal: {sentence}", file=sys.stderr)
    return 1


def _discard_output(error: OSError) -> int:
    """Say why the output can't be written, and discard the rest, including the flush at exit."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return _tell(f"The output can't be written: {error.strerror}. With another one, everything works.")


def _main(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in COMMANDS and COMMANDS[given[0]].reads_all:
        return _run_parsed(argparse.Namespace(command=given[0], arguments=given[1:]))
    given = expand(given)
    if not given:
        if sys.stdin.isatty() and sys.stdout.isatty():
            return _run(_start)
        return _tell("The start screen needs a terminal. Commands need none, and samedeal --help lists them.")
    known = parser(_wanted(given))
    parsed, unknown = known.parse_known_args(given, argparse.Namespace(start_command=start_command))
    if unknown:
        hint = ". Leave out the blank after the comma." if any(word.endswith(",") for word in given) else ""
        known.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return _run(lambda: _run_parsed(parsed))


def _start() -> int:
    import asyncio

    from samedeal_client.commands.start import start

    return asyncio.run(start(run_command))


def start_command(arguments: Sequence[str]) -> int | Coroutine[Any, Any, int]:
    """Run a command and return the exit code, or return a coroutine that does so. Raise SystemExit for bad usage."""
    parsed = parser(arguments[0]).parse_args(arguments, argparse.Namespace(start_command=start_command))
    return _command(parsed.command).run(parsed)


async def run_command(arguments: Sequence[str]) -> int:
    """Run a command with its arguments and return the exit code."""
    running = start_command(arguments)
    return running if isinstance(running, int) else await running


def _run_parsed(parsed: argparse.Namespace) -> int:
    running = _command(parsed.command).run(parsed)
    if isinstance(running, int):
        return running
    import asyncio

    return asyncio.run(running)


def _run(command: Callable[[], int]) -> int:
    """Run a command and return its exit code. An error is printed, not raised, unless it is one of the output."""
    try:
        return command()
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if (
            isinstance(error, OSError)
            and error.filename is None
            and error.errno in (errno.ENOSPC, errno.EPIPE, errno.EIO)
        ):
            raise
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        from samedeal.terminal_text import printable
        from samedeal_client.commands.arguments import error_report

        report = error_report(error)
        _tell(printable(str(report), 2000))
        return report.code
    finally:
        from samedeal_link.machine.terminal import terminal

        for sentence in terminal().unsaved.take_sentences():
            _tell(sentence)

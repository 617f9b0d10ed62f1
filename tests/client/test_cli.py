"""The command line: its help, its exit codes and its error messages."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import samedeal_client
from samedeal.errors import RequestRefused
from samedeal.protocol_codes import RefusalCode
from samedeal_client import run_client
from samedeal_client.cli import COMMANDS as CLIENT_COMMANDS
from samedeal_client.cli import game_words, main, parser
from samedeal_client.commands.arguments import error_report, player_name
from samedeal_client.commands.new import options_of
from samedeal_client.menus.start_menu import LONE_CODE
from samedeal_link.connection.dial import CannotConnect
from tests.client.command_line import run_samedeal
from tests.golden.golden_files import assert_answers
from tests.server.redis_kinds import free_port

COMMANDS = ("play", "join", "watch", "rooms", "new", "bot", "engine", "match")


def test_help_of_all_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It fits into 80 columns, names the exit codes, and lists every variable."""
    monkeypatch.setenv("COLUMNS", "80")
    sources = "".join(file.read_text() for file in Path(samedeal_client.__file__).parents[1].rglob("*.py"))
    text = parser().format_help()
    for command in sorted({*CLIENT_COMMANDS} - {"serve"}):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text += (help_text := capsys.readouterr().out)
        assert help_text.lower().count("exit codes: 0 ") == 1, command
        assert command not in COMMANDS or "examples:\n  samedeal " in help_text
    assert [line for line in text.splitlines() if len(line) >= 80] == []
    variables = r"\b(SAMEDEAL_[A-Z_]+|XDG_[A-Z_]+|NO_COLOR)\b"
    assert set(re.findall(f'"{variables}"', sources)) == set(re.findall(variables, text))


def test_every_example_is_valid() -> None:
    for command in COMMANDS:
        text = parser().format_help() + CLIENT_COMMANDS[command].help_texts(**game_words())["epilog"]
        for line in re.findall(rf"^  samedeal {command} ([^\n]*)", text, re.MULTILINE):
            words = shlex.split(re.split(r" {2,}| < ", line)[0])
            parser(command).parse_args([command, *words])


@pytest.mark.parametrize(
    ("words", "usual"),
    [
        ("bot h --engine x k7", "bot h k7 --engine x"),
        ("join h --name ana k7 --plain", "join h k7 --name ana --plain"),
        ("replay h --player ana k7", "replay h k7 --player ana"),
        ("rules --ascii willow", "rules willow --ascii"),
    ],
)
def test_arguments_may_follow_options(words: str, usual: str) -> None:
    """Also those that may be left out."""
    command, *_ = words.split()
    assert parser(command).parse_args(words.split()) == parser(command).parse_args(usual.split())


def test_help_imports_no_heavy_modules() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "samedeal_client", "--help"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stderr
    modules = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "samedeal_client.cli" in modules
    heavy = {"asyncio", "textual", "websockets", "msgspec", "msgpack"}
    heavy |= {"samedeal.games", "samedeal_link.solving.strategy"}
    assert not heavy & modules


def exit_code_of(arguments: tuple[str, ...]) -> int | str | None:
    """The exit code of a command line, whether it is returned or raised."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return ended.code


def test_wording_of_bad_usage_with_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    def answer(_: str, question: str) -> str:
        """The last line that is printed, without what argparse says of all choices."""
        arguments = shlex.split(question.replace("\\x1b", "\x1b"))
        assert exit_code_of(tuple(arguments)) == 2
        printed = capsys.readouterr()
        assert (printed.out, "samedeal" in printed.err, "Traceback" in printed.err) == ("", True, False)
        return re.sub(r"(invalid choice|are required): .*", r"\1", printed.err.splitlines()[-1])

    assert_answers("commands", answer)


@pytest.mark.parametrize(
    ("words", "bots", "series"),
    [("", True, 1), ("--no-bots --series 3", False, 3), ("--window 1d", False, 1), ("--window 1d --no-bots", False, 1)],
)
def test_options_that_are_left_out_fit_the_others(words: str, *, bots: bool, series: int) -> None:
    options = options_of(parser("new").parse_args(["new", "localhost", *words.split()]))
    assert (options.bots, options.series) == (bots, series)


@pytest.mark.parametrize("command", ["join", "watch", "rooms", "new", "bot"])
def test_no_connection_is_exit_code_1(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    room = ("k7",) if command in ("join", "watch", "bot") else ()
    assert main([command, f"127.0.0.1:{free_port()}", *room]) == 1
    assert re.fullmatch(r"samedeal: [^\n]+\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "advised"),
    [("friday", True), ("friday ana", False), ("friday.invalid", False), ("friday/ana", False)],
)
def test_room_code_without_server_is_explained(
    arguments: str, advised: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(*_: object, **__: object) -> int:
        raise CannotConnect("There is no host friday.", "no_host")

    monkeypatch.setattr(run_client, "run_client", fail)
    assert main(["join", *arguments.split()]) == 1
    assert (LONE_CODE in capsys.readouterr().err) == advised


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize(
    ("command", "streams"),
    [("rules steve", streams) for streams in ("<&-", ">&-", "2>&-", ">/dev/full")] + [("", "</dev/null")],
)
def test_useless_stream_is_one_sentence_and_exit_code_1(command: str, streams: str) -> None:
    line = f"exec {shlex.quote(sys.executable)} -m samedeal_client {command} {streams}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=BUFFERED, timeout=60, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"samedeal: [^\n]+\n", done.stdout + done.stderr)


def test_serve_runs_the_server() -> None:
    served = run_samedeal("serve", "--help")
    assert served.returncode == 0
    assert "samedeal-server" in served.stdout
    assert run_samedeal("serve", "--port", "x").returncode == 2


@pytest.mark.parametrize(("login", "name"), [("ana", "ana"), ("Admin", "player")])
def test_reserved_login_name_is_replaced(monkeypatch: pytest.MonkeyPatch, login: str, name: str) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: login)
    assert player_name("") == name


def test_taken_name_names_the_option() -> None:
    report = error_report(RequestRefused(RefusalCode.NAME_TAKEN, "Ana is taken."))
    assert str(report).startswith("Ana is taken. ")
    assert "--name" in str(report)

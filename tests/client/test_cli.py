"""The command line: what it says of itself, and that every mistake is one sentence and an exit code."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import samedeal
import samedeal_client
from samedeal.options import Options
from samedeal_client.cli import COMMANDS as CLIENT_COMMANDS
from samedeal_client.cli import main, parser
from samedeal_client.commands import new
from samedeal_client.running import Failure

COMMANDS = ("play", "join", "watch", "rooms", "new", "bot")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "samedeal_client", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("arguments", [("--help",), *((command, "--help") for command in COMMANDS)])
def test_help_has_examples(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert "examples:\n  samedeal " in capsys.readouterr().out


@pytest.mark.parametrize("command", sorted({*CLIENT_COMMANDS} - {"serve"}))
def test_help_has_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert capsys.readouterr().out.lower().count("exit codes: 0 ") == 1


def test_help_has_every_variable_that_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    sources = "".join(file.read_text() for file in Path(samedeal_client.__file__).parent.rglob("*.py"))
    told = parser().format_help()
    for command in {*CLIENT_COMMANDS} - {"serve"}:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        told += capsys.readouterr().out
    variables = r"\b(SAMEDEAL_[A-Z_]+|XDG_[A-Z_]+|NO_COLOR)\b"
    assert set(re.findall(f'"{variables}"', sources)) == set(re.findall(variables, told))


def test_every_example_is_a_command_line_that_is_understood() -> None:
    for command in COMMANDS:
        text = parser().format_help() + importlib.import_module(f"samedeal_client.commands.{command}").EXAMPLES
        for line in re.findall(rf"^  samedeal {command} ([^\n]*)", text, re.MULTILINE):
            words = re.split(r" {2,}| < ", line)[0].replace("'", "").split()
            parser(command).parse_args([command, *words])


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert (
        capsys.readouterr().out == f"samedeal {samedeal.__version__} (protocol samedeal.v1, rules {samedeal.ENGINE})\n"
    )


def test_help_comes_at_once_since_nothing_heavy_is_loaded_for_it() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "samedeal_client", "--help"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stderr
    modules = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "samedeal_client.cli" in modules
    heavy = {
        "asyncio",
        "textual",
        "websockets",
        "msgspec",
        "msgpack",
        "samedeal.games",
        "samedeal_client.bots.strategy",
    }
    assert not heavy & modules


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "required: COMMAND"),
        (("dance",), 2, "invalid choice: 'dance'"),
        (("join",), 2, "required: URL"),
        (("rules",), 2, "one of athena, steve, phoenix, ace-of-hearts, willow"),
        (("join", "ftp://x", "k7"), 2, "'ftp' is not the start of an address"),
        (("join", "local host", "k7"), 2, "is not an address"),
        (("join", "localhost", "not a room"), 2, "is not a room"),
        (("join", "localhost/one", "two"), 2, "give one of them"),
        (("join", "localhost", "k7", "--name", "a\x1b[31m"), 2, "A name can't hold"),
        (("join", "localhost", "k7", "--name", " "), 2, "A name can't be empty"),
        (("join", "localhost", "k7", "--name", "x" * 21), 2, "can't be wider"),
        (("watch", "localhost"), 2, "samedeal watch localhost ROOM"),
        (("bot", "localhost"), 2, "samedeal bot localhost ROOM"),
        (("bot", "localhost", "k7", "--pace", "0"), 2, "moves a minute from 1 to 1000"),
        (("bot", "localhost", "k7", "--level", "genius"), 2, "invalid choice: 'genius'"),
        (("new", "localhost", "--game", "klondike"), 2, "'klondike' is not a game: choose one of"),
        (("new", "localhost", "--deal", "x"), 2, "'x' is not a deal"),
        (("new", "localhost", "--players", "17"), 2, "'17' is not a number from 1 to 16"),
        (("new", "localhost", "--limit", "5s"), 2, "--limit 5s: a race lasts from 10 s"),
        (("new", "localhost", "--start", "soon"), 2, "--start soon: write 20:30"),
        (("new", "localhost", "--room", "-"), 2, "is not a room"),
        (("play", "klondike"), 2, "'klondike' is not a game: choose one of"),
        (("play", "--limit", "x"), 2, "--limit x: write minutes"),
        (("play", "--deal", "x"), 2, "'x' is not a deal"),
        (("play", "--bots", "0"), 2, "'0' is not a number from 1 to 15"),
    ],
)
def test_a_mistake_is_a_sentence_and_code_2(
    arguments: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        ended: int | str | None = main(arguments)
    except SystemExit as exited:
        ended = exited.code
    told = capsys.readouterr()
    assert ended == code
    assert said in told.err
    assert "Traceback" not in told.err
    assert told.out == ""


@pytest.mark.parametrize("command", ["join", "watch", "rooms", "new", "bot"])
def test_where_nothing_listens_it_is_code_1(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    room = ("k7",) if command in ("join", "watch", "bot") else ()
    assert main([command, f"127.0.0.1:{free_port()}", *room]) == 1
    assert re.fullmatch(r"samedeal: Nothing listens at 127\.0\.0\.1:\d+: [^\n]+\n", capsys.readouterr().err)


def test_no_such_host(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rooms", "ws://no-such-host.invalid"]) == 1
    assert capsys.readouterr().err == "samedeal: There is no host no-such-host.invalid: check the address\n"


def test_a_server_without_tls_is_told_how_to_be_reached(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", "samedeal_client", "rooms", f"wss://127.0.0.1:{port}"],
            stderr=subprocess.PIPE,
            text=True,
        )
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        _, said = process.communicate(timeout=20)
    assert process.returncode == 1
    assert f"does not speak TLS on this port: if it has no TLS, write ws://127.0.0.1:{port}" in said


def test_tracebacks_are_for_those_who_ask_for_them() -> None:
    arguments = ("rooms", f"127.0.0.1:{free_port()}")
    assert "Traceback" not in run(*arguments).stderr
    assert "Traceback" in run(*arguments, SAMEDEAL_DEBUG="1").stderr


def test_output_that_nobody_reads_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "samedeal_client", "rules", "steve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(30) in (0, 1)


def test_serve_is_the_server() -> None:
    served = run("serve", "--help")
    assert served.returncode == 0
    assert "samedeal-server" in served.stdout
    assert run("serve", "--port", "x").returncode == 2


def test_without_what_the_server_stands_on_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "structlog" else find(name))
    assert main(["serve"]) == 1
    assert "the server needs structlog: pip install samedeal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), Options()),
        (("--game", "athena", "--game", "STEVE"), Options(games=("athena", "steve"))),
        (("--deal", "4821", "--players", "2"), Options(deal="#4821", players=2)),
        (("--limit", "90s", "--undo", "off", "--hints"), Options(limit=90, undo="off", hints=True)),
        (("--limit", "15:00"), Options(limit=900)),
        (("--no-spectators", "--delay", "0"), Options(spectators=False, delay=0)),
        (("--start", "full", "--countdown", "0"), Options(start="full", countdown=0)),
        (("--first-home-ends",), Options(first_home_ends=True)),
    ],
)
def test_the_options_of_a_room(arguments: tuple[str, ...], options: Options) -> None:
    assert new.options_of(parser("new").parse_args(["new", "localhost", *arguments])) == options


def test_a_start_at_a_time() -> None:
    options = new.options_of(parser("new").parse_args(["new", "localhost", "--start", "+10"]))
    assert options.start == "at"
    assert options.start_at > 1_700_000_000_000
    with pytest.raises(Failure, match="within the next seven days"):
        new.options_of(parser("new").parse_args(["new", "localhost", "--start", "2020-01-01 10:00"]))

"""Command lines, environments and configuration files, valid and damaged. Each must end with an exit code and a sentence.

Servers end as soon as they start, and the network is unreachable.
"""

from __future__ import annotations

import io
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import samedeal_client.cli
import samedeal_client.commands.arguments
import samedeal_link.connection.address
import samedeal_server.cli
import samedeal_server.telemetry.logs
from samedeal_bots.commands import bot
from samedeal_client.commands import join, new, rules, watch
from samedeal_client.commands import rooms as rooms_command
from samedeal_link.connection import dial
from samedeal_operate import connection_check
from samedeal_operate.commands import doctor
from samedeal_server.config import config, limits, setting_sources
from samedeal_server.config.config import Config
from samedeal_server.config.setting_sources import table
from samedeal_server.process import app
from tests.fuzz.campaign import BrokenPromise, Campaign
from tests.fuzz.damage import TEXTS, damaged_bytes, damaged_text

_WATCHED: Final = (
    *(samedeal_server.cli, setting_sources, config, limits),
    *(samedeal_client.cli, samedeal_link.connection.address, samedeal_client.commands.arguments),
    *(bot, doctor, join, new, rules, watch, rooms_command),
)
_NOWHERE: Final = "127.0.0.1:1"
_ROWS: Final = table(Config)
_VALUES: Final = (
    *("0", "1", "-1", "7", "99999", "1e9", "nan", "inf", "yes", "no", "always", "json", "debug", "\udcff", "a=b"),
)
_TOML: Final = b"""# settings
port = 7777
log-style = "json"
origins = ["https://cards.example.org"]

[limits]
rooms = 12
rate = 1.5
"""
_CLIENT: Final = (
    ("join", _NOWHERE, "friday", "--name", "ana", "--plain"),
    ("watch", _NOWHERE, "friday", "--plain"),
    ("rooms", _NOWHERE),
    ("new", _NOWHERE, "--game", "willow", "--limit", "10", "--players", "2", "--deal", "#7", "--no-join"),
    ("new", _NOWHERE, "--start", "at", "--at", "20:15", "--undo", "free", "--room", "friday", "--passphrase", "x"),
    ("bot", _NOWHERE, "friday", "--level", "careful", "--name", "bot"),
    ("rules", "athena"),
    ("rules",),
    ("doctor", _NOWHERE),
    ("join", "samedeal://127.0.0.1:1/friday"),
    ("join", "https://127.0.0.1:1/r/friday"),
    ("join", "wss://[::1]:1/friday"),
    ("--version",),
    ("--help",),
)


@dataclass(frozen=True)
class CommandInput:
    """A command line with its environment. ``file`` is the content of the configuration file, which ``FILE`` stands for."""

    program: str
    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    file: bytes = b""


def fuzz_commands(seed: int, inputs: int, *, stop: int = 1) -> Campaign[CommandInput]:
    """Try a number of command lines. Stop after ``stop`` broken promises."""
    campaign = Campaign("commands", seed, _WATCHED, _make, _damage)
    with TemporaryDirectory() as directory, _without_network():
        for line in campaign.inputs(inputs, stop):
            with campaign.trying(line):
                _try(line, Path(directory))
    return campaign


def _make(rng: Random) -> CommandInput:
    if rng.random() < 0.5:
        return CommandInput("samedeal", rng.choice(_CLIENT))
    words: list[str] = []
    for row in rng.sample(_ROWS, rng.randint(0, 4)):
        words += [f"--{row.name}", rng.choice((*_VALUES, row.show(row.default).strip('"')))]
    if rng.random() < 0.4:
        words += ["--config", "FILE"]
    if rng.random() < 0.5:
        words.append("--print-config")
    environment = tuple((row.variable, rng.choice(_VALUES)) for row in rng.sample(_ROWS, rng.randint(0, 2)))
    return CommandInput("samedeal-server", tuple(words), environment, _TOML)


def _damage(rng: Random, line: CommandInput, others: list[CommandInput]) -> CommandInput:
    words, environment, file = list(line.words), list(line.environment), line.file
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(words)) if words else 0
        match rng.randrange(8):
            case 0 if words:
                del words[at]
            case 1:
                words.insert(
                    at, rng.choice((*TEXTS, *_VALUES, *(f"--{row.name}" for row in _ROWS), "--", "-h", "@x", "--x="))
                )
            case 2:
                words[at:at] = rng.choice(others).words[:3]
            case 3:
                file = damaged_bytes(rng, file or _TOML)
            case 4:
                row = rng.choice(_ROWS)
                environment.append((damaged_text(rng, row.variable), rng.choice((*TEXTS, *_VALUES))))
            case 5 if environment:
                name, text = environment.pop()
                environment.append((name, damaged_text(rng, text)))
            case _ if words:
                words[at] = damaged_text(rng, words[at])
            case _:
                pass
    clean = tuple(word.replace("\x00", "") for word in words[:20])
    return CommandInput(line.program, clean, tuple(_valid_environment(environment)), file)


def _valid_environment(environment: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Filter an environment for variables that the system accepts."""
    for name, text in environment:
        if name and "=" not in name and not any("\ud800" <= char < "\udc80" or char > "\udcff" for char in name + text):
            yield name.replace("\x00", ""), text.replace("\x00", "")


@contextmanager
def _without_network() -> Iterator[None]:
    """Replace servers and the network with failures."""

    async def serves_nobody(*_: Any, **__: Any) -> None:
        return

    found = socket.getaddrinfo

    def only_numbers(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:  # noqa: A002
        return found(host, port, family, type, proto, flags | socket.AI_NUMERICHOST)

    with ExitStack() as stack:
        stack.enter_context(patch.object(app, "run", serves_nobody))
        stack.enter_context(patch.object(samedeal_server.telemetry.logs, "set_up"))
        stack.enter_context(patch.object(socket, "getaddrinfo", only_numbers))
        stack.enter_context(patch.object(sys, "stdin", io.StringIO()))  # a command that asks would wait for an answer
        stack.enter_context(patch.object(dial, "OPEN_TIMEOUT", 0.05))
        stack.enter_context(patch.object(connection_check, "STEP_TIMEOUT", 0.05))
        yield


def _try(line: CommandInput, directory: Path) -> None:
    file = directory / "settings.toml"
    file.write_bytes(line.file)
    words = [str(file) if word == "FILE" else word for word in line.words]
    if words[:1] in (["play"], ["serve"], ["restore"], ["admin"]):
        return  # these start other programs, or ask Redis
    home = str(directory / "home")
    environment = {"PATH": os.environ["PATH"], "HOME": home, **dict(line.environment)}
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="strict")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    main: Callable[[list[str]], int] = (
        samedeal_client.cli.main if line.program == "samedeal" else samedeal_server.cli.main
    )
    with patch.dict(os.environ, environment, clear=True), redirect_stdout(out), redirect_stderr(err):
        try:
            code: Any = main(words)
        except SystemExit as ended:
            code = ended.code if ended.code is not None else 0
        except BaseException as error:
            raise BrokenPromise(f"{error!r} escaped") from error
    output, errors = _text(out), _text(err)
    if code not in (0, 1, 2, 130):
        raise BrokenPromise(f"the exit code is {code!r}")
    if "Traceback" in output + errors or "a mistake of this program" in errors:
        raise BrokenPromise(f"a mistake: {errors[-400:]}")
    if code and not (output + errors).strip():
        raise BrokenPromise(f"it ended with {code} without a message")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")

"""Tests of the settings: their sources, the precedence of these, and errors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from samedeal_server.cli import main, parser
from samedeal_server.config.config import OTHER_VARIABLES, Config
from samedeal_server.config.setting_sources import DETAILS, InvalidSetting, Reading, describe, read, table
from tests.golden.golden_files import assert_answers, assert_sentences


def reading(flags: str = "", file: str | None = None, environment: Mapping[str, str] | None = None) -> Reading[Config]:
    named = None if file is None else ("race.toml", file)
    return read(Config, vars(parser().parse_args(flags.split())), environment or {}, named, OTHER_VARIABLES)


def test_help_uses_the_name_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "samedeal-server" in parser().format_help()
    text = parser("samedeal serve").format_help()
    assert text.count("samedeal-server") == 1  # in the sentence that both are the same
    assert "samedeal serve --host all\n" in text
    with pytest.raises(SystemExit):
        main(["restore", "--help"], "samedeal serve")
    assert "samedeal-server" not in capsys.readouterr().out


def test_flag_overrides_variable_and_variable_overrides_file() -> None:
    file = "port = 1\nhost = '::1'\nlog-level = 'debug'"
    given = reading("--port 3", file, {"SAMEDEAL_PORT": "2", "SAMEDEAL_HOST": "0.0.0.0"})
    assert (given.values.port, given.values.host, given.values.log_level) == (3, "0.0.0.0", "debug")
    assert given.sources == {"port": "--port", "host": "SAMEDEAL_HOST", "log-level": "race.toml: log-level"}


def test_settings_are_read_or_refused() -> None:
    """Passwords are not shown, and neither are the addresses of hooks."""

    def answer(source: str, question: str) -> str:
        text = question.encode().decode("unicode_escape")
        variable, _, value = text.partition("=")
        given: dict[str, dict[str, Any]] = {
            "flags": {"flags": text},
            "a file": {"file": text},
            "a variable": {"environment": {variable: value}},
        }
        try:
            shown = describe(reading(**given[source])).splitlines()
        except InvalidSetting as refusal:
            return str(refusal)
        return "; ".join(line for line in shown if "  # " in line and not line.endswith("  # default"))

    assert_answers("settings", answer)


def test_path_may_start_with_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/mira")
    assert reading("--data ~/cards").values.data == Path("/home/mira/cards")


@pytest.mark.usefixtures("log")
def test_sentences_of_unknown_flags(capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    unknown = ("--limit-conections 5", "--limit-conections=5", "--print-confg", "--chess", "friday", "--hook a, b")
    for words in unknown:
        with pytest.raises(SystemExit) as stopped:
            main(words.split())
        assert stopped.value.code == 2
        lines.append(f"{words}\t{capsys.readouterr().err.splitlines()[-1]}")
    assert_sentences("settings: unknown flags", lines)


def test_printed_settings_can_be_read_again() -> None:
    given = reading("--port 5 --limit-rate 2.5 --announce --data /srv/o'clock", "[limits]\nrooms = 9")
    printed = describe(given)
    assert tomllib.loads(printed)["limits"]["rate"] == 2.5
    assert reading(file=printed).values == given.values
    assert "port = 5  # --port\n" in printed
    assert "rooms = 9  # race.toml: limits.rooms\n" in printed
    assert 'durability = "always"  # default\n' in printed


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_unreadable_file_is_refused(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "race.toml"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SAMEDEAL_CONFIG", str(file))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert str(file) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words", "bots"),
    [
        ("samedeal-server", [], 0),
        ("samedeal serve", [], 3),
        ("samedeal serve", ["--house", "0"], 0),
        ("samedeal serve", ["--house-key-file", "house.key"], 0),
    ],
)
def test_serve_has_a_house_unless_told_otherwise(
    name: str, words: list[str], bots: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--print-config"], name) == 0
    assert f"house = {bots}  # " in capsys.readouterr().out


def test_print_config_prints_settings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "race.toml"
    file.write_text("port = 4000\n")
    assert main(["--config", str(file), "--print-config"]) == 0
    assert f"port = 4000  # {file}: port\n" in capsys.readouterr().out


def test_every_setting_has_details() -> None:
    """A field of the limits may have none: then no operator can change it."""
    rows = table(Config)
    assert {row.name for row in rows} == DETAILS.keys()
    assert {row.path[0] for row in rows} == {field.name for field in fields(Config)}

"""The table of settings: where a value comes from, which goes first, and how what is wrong is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from samedeal_server.cli import main, parser
from samedeal_server.config import OTHER_VARIABLES, Config, default_data
from samedeal_server.settings import BadSetting, Reading, describe, read, table


def reading(flags: str = "", file: str | None = None, environment: Mapping[str, str] | None = None) -> Reading[Config]:
    named = None if file is None else ("race.toml", file)
    return read(Config, vars(parser().parse_args(flags.split())), environment or {}, named, OTHER_VARIABLES)


def refusal(flags: str = "", file: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    with pytest.raises(BadSetting) as caught:
        reading(flags, file, environment)
    return str(caught.value)


def test_the_help_speaks_of_the_server_by_the_name_that_it_was_called_by(capsys: pytest.CaptureFixture[str]) -> None:
    assert "samedeal-server" in parser().format_help()
    told = parser("samedeal serve").format_help()
    assert told.count("samedeal-server") == 1  # that it is the same
    assert "samedeal serve --host 0.0.0.0 " in told
    with pytest.raises(SystemExit):
        main(["restore", "--help"], "samedeal serve")
    assert "samedeal-server" not in capsys.readouterr().out


def test_nothing_given_is_what_the_dataclass_says() -> None:
    assert reading().values == Config()
    assert reading().sources == {}


def test_a_flag_goes_before_a_variable_and_that_before_the_file() -> None:
    file = "port = 1\nhost = '::1'\nlog-level = 'debug'"
    given = reading("--port 3", file, {"SAMEDEAL_PORT": "2", "SAMEDEAL_HOST": "0.0.0.0"})
    assert (given.values.port, given.values.host, given.values.log_level) == (3, "0.0.0.0", "debug")
    assert given.sources == {"port": "--port", "host": "SAMEDEAL_HOST", "log-level": "race.toml: log-level"}


@pytest.mark.parametrize(
    ("flags", "file", "environment"),
    [
        ("--limit-rooms 7", None, {}),
        ("", "[limits]\nrooms = 7", {}),
        ("", None, {"SAMEDEAL_LIMIT_ROOMS": "7"}),
    ],
)
def test_a_limit_can_be_given_in_each_way(flags: str, file: str | None, environment: dict[str, str]) -> None:
    assert reading(flags, file, environment).values.limits.rooms == 7


@pytest.mark.parametrize("text", ["yes", "true", "on", "1", "TRUE"])
def test_yes(text: str) -> None:
    assert reading(environment={"SAMEDEAL_ANNOUNCE": text}).values.announce


@pytest.mark.parametrize(("text", "value"), [("off", None), ("OFF", None), ("0", 0), ("9777", 9777)])
def test_what_may_be_off(text: str, value: int | None) -> None:
    assert reading(f"--health-port {text}", "health-port = 5").values.health_port == value
    written = text if text.isdigit() else "'off'"
    assert reading(file=f"health-port = {written}").values.health_port == value


def test_a_path_may_be_off() -> None:
    assert reading("--tls-cert off --tls-key off", "tls-cert = 'a'\ntls-key = 'b'").values.tls_cert is None
    assert reading(file="tls-cert = 'a'\ntls-key = 'b'").values.tls_key == Path("b")


@pytest.mark.parametrize("flags", ["", "--announce no", "--announce=off"])
def test_no(flags: str) -> None:
    assert not reading(flags, "announce = false").values.announce


def test_a_flag_for_yes_needs_no_word() -> None:
    assert reading("--announce --port 5").values.announce


def test_a_path_may_begin_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/mira")
    assert reading("--data ~/cards").values.data == Path("/home/mira/cards")


@pytest.mark.parametrize(
    ("flags", "file", "environment", "sentence"),
    [
        ("--port x", None, {}, "--port: 'x' will not do: it takes a whole number from 0 to 65535"),
        ("--port 70000", None, {}, "--port: '70000' will not do: it takes a whole number from 0 to 65535"),
        ("--port 1_0", None, {}, "--port: '1_0' will not do: it takes a whole number from 0 to 65535"),
        ("", None, {"SAMEDEAL_PORT": ""}, "SAMEDEAL_PORT: '' will not do: it takes a whole number from 0 to 65535"),
        ("", "port = '80'", {}, "race.toml: port: that will not do: it takes a whole number from 0 to 65535"),
        ("", "port = 1.5", {}, "race.toml: port: that will not do: it takes a whole number from 0 to 65535"),
        ("", "port = true", {}, "race.toml: port: that will not do: it takes a whole number from 0 to 65535"),
        ("", "host = 7", {}, "race.toml: host: that will not do: it takes a text, in quotes"),
        ("", "announce = 'yes'", {}, "race.toml: announce: that will not do: it takes true or false"),
        ("--data ~nobody-of-that-name/x", None, {}, "--data: '~nobody-of-that-name/x' will not do: it takes a path"),
        ("--durability never", None, {}, "--durability: 'never' will not do: it takes one of always, everysec"),
        ("--limit-rate nan", None, {}, "--limit-rate: 'nan' will not do: it takes a number, 0.1 at the least"),
        ("--limit-rooms 0", None, {}, "--limit-rooms: '0' will not do: it takes a whole number, 1 at the least"),
        ("--data=", None, {}, "--data: '' will not do: it takes a path"),
        ("--data=a\x07b", None, {}, r"--data: 'a\x07b' will not do: it takes a path"),
        ("--data=a\udcffb", None, {}, r"--data: 'a\udcffb' will not do: it takes a path"),
        ("--announce maybe", None, {}, "--announce: 'maybe' will not do: it takes yes or no"),
        ("", "prot = 1", {}, "race.toml: prot is no setting. Is it port that you mean?"),
        ("", "log_level = 'info'", {}, "race.toml: log_level is no setting. Is it log-level that you mean?"),
        ("", "[limits]\nroom = 1", {}, "race.toml: limits.room is no setting. Is it limits.rooms that you mean?"),
        ("", "[limit]\nrooms = 1", {}, "race.toml: limit is no setting. Is it limits that you mean?"),
        ("", "limits = 1", {}, "race.toml: limits is a table of settings: write [limits]"),
        ("", "port = ", {}, "race.toml is no TOML: Invalid value (at end of document)"),
        ("", None, {"SAMEDEAL_HOSTS": "a"}, "SAMEDEAL_HOSTS is no setting. Is it SAMEDEAL_HOST that you mean?"),
        ("", None, {"SAMEDEAL_QQ": "a"}, "SAMEDEAL_QQ is no setting. --help lists all settings"),
    ],
)
def test_what_is_wrong_is_named(flags: str, file: str | None, environment: dict[str, str], sentence: str) -> None:
    assert refusal(flags, file, environment) == sentence


def test_what_kubernetes_puts_into_the_environment_is_told_apart() -> None:
    assert "enableServiceLinks" in refusal(environment={"SAMEDEAL_SERVICE_HOST": "10.0.0.1"})
    assert "enableServiceLinks" in refusal(environment={"SAMEDEAL_PORT_7777_TCP": "tcp://10.0.0.1:7777"})


def test_variables_of_others_are_let_be() -> None:
    assert reading(environment={"SAMEDEAL_DEBUG": "1", "PORT": "x"}).values == Config()


def test_what_is_printed_is_a_file_that_comes_to_the_same() -> None:
    given = reading("--port 5 --limit-rate 2.5 --announce --data /srv/o'clock", "[limits]\nrooms = 9")
    printed = describe(given)
    assert tomllib.loads(printed)["limits"]["rate"] == 2.5
    assert reading(file=printed).values == given.values
    assert "port = 5  # --port\n" in printed
    assert "rooms = 9  # race.toml: limits.rooms\n" in printed
    assert 'durability = "always"  # default\n' in printed


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://user:sesam@10.0.0.5/0", "redis://***@10.0.0.5/0"),
        ("redis://:se/sa@m@10.0.0.5/0", "redis://***@10.0.0.5/0"),
        ("unix:///run/r.sock?password=sesam&db=1", "unix:///run/r.sock?password=***&db=1"),
        ("sentinel://h1,h2/main?sentinel_password=sesam", "sentinel://h1,h2/main?sentinel_password=***"),
        ("redis://10.0.0.5/0", "redis://10.0.0.5/0"),
    ],
)
def test_a_password_is_not_printed(url: str, shown: str) -> None:
    assert f'redis = "{shown}"  # --redis\n' in describe(reading(f"--redis {url}"))


def test_each_setting_is_in_the_help_with_its_variable() -> None:
    told = " ".join(parser().format_help().split())
    for row in table(Config):
        assert f"{row.flag} " in told
        assert row.variable in told


def test_names_are_unambiguous() -> None:
    rows = table(Config)
    assert len({row.name for row in rows}) == len(rows)
    assert not {row.variable for row in rows} & OTHER_VARIABLES


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "race.toml"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SAMEDEAL_CONFIG", str(file))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert f"The configuration file {file} can't be read: " in capsys.readouterr().err


def test_the_settings_are_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "race.toml"
    file.write_text("port = 4000\n")
    assert main(["--config", str(file), "--print-config"]) == 0
    assert f"port = 4000  # {file}: port\n" in capsys.readouterr().out


def test_a_user_without_a_home_has_the_data_where_the_system_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(path: Path) -> Path:
        raise RuntimeError(path)

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", nobody)
    assert default_data() == Path("/var/lib/samedeal/server")

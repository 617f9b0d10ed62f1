"""Tests of the settings: their sources, the precedence of these, and errors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from samedeal_server.cli import main, parser
from samedeal_server.config.config import OTHER_VARIABLES, Config, default_data
from samedeal_server.config.setting_sources import InvalidSetting, Reading, describe, read, table
from tests.golden.golden_files import assert_sentences


def reading(flags: str = "", file: str | None = None, environment: Mapping[str, str] | None = None) -> Reading[Config]:
    named = None if file is None else ("race.toml", file)
    return read(Config, vars(parser().parse_args(flags.split())), environment or {}, named, OTHER_VARIABLES)


def refusal(flags: str = "", file: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    with pytest.raises(InvalidSetting) as caught:
        reading(flags, file, environment)
    return str(caught.value)


def test_help_fits_into_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, parser("samedeal serve").format_help().splitlines())) < 80


def test_help_uses_the_name_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "samedeal-server" in parser().format_help()
    text = parser("samedeal serve").format_help()
    assert text.count("samedeal-server") == 1  # in the sentence that both are the same
    assert "samedeal serve --host all\n" in text
    with pytest.raises(SystemExit):
        main(["restore", "--help"], "samedeal serve")
    assert "samedeal-server" not in capsys.readouterr().out


def test_defaults_are_those_of_the_dataclass() -> None:
    assert reading().values == Config()
    assert reading().sources == {}


def test_flag_overrides_variable_and_variable_overrides_file() -> None:
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
def test_limit_can_be_set_in_every_source(flags: str, file: str | None, environment: dict[str, str]) -> None:
    assert reading(flags, file, environment).values.limits.rooms == 7


@pytest.mark.parametrize("text", ["yes", "true", "on", "1", "TRUE"])
def test_yes_is_accepted(text: str) -> None:
    assert reading(environment={"SAMEDEAL_ANNOUNCE": text}).values.announce


@pytest.mark.parametrize(("text", "value"), [("off", None), ("OFF", None), ("0", 0), ("9777", 9777)])
def test_optional_setting_can_be_off(text: str, value: int | None) -> None:
    assert reading(f"--health-port {text}", "health-port = 5").values.health_port == value
    written = text if text.isdigit() else "'off'"
    assert reading(file=f"health-port = {written}").values.health_port == value


def test_optional_path_can_be_off() -> None:
    assert reading("--tls-cert off --tls-key off", "tls-cert = 'a'\ntls-key = 'b'").values.tls_cert is None
    assert reading(file="tls-cert = 'a'\ntls-key = 'b'").values.tls_key == Path("b")


@pytest.mark.parametrize("flags", ["", "--announce no", "--announce=off"])
def test_no_is_accepted(flags: str) -> None:
    assert not reading(flags, "announce = false").values.announce


def test_flag_without_value_means_yes() -> None:
    assert reading("--announce --port 5").values.announce


def test_path_may_start_with_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/mira")
    assert reading("--data ~/cards").values.data == Path("/home/mira/cards")


INVALID_FLAGS = (
    *("--port x", "--port 70000", "--port 1_0", "--data ~nobody-of-that-name/x", "--durability never"),
    *("--limit-rate nan", "--limit-rooms 0", "--data=", "--data=a\x07b", "--data=a\udcffb"),
    *("--announce maybe", "--redis=a\x07b", "--tls-cert cert.pem", "--public-url here"),
    *("--trusted-proxies proxy", "--host=", "--origins cards.example.org"),
    *("--hook https://example.org --hook ftp://example.org/secret", "--tides noon"),
)
INVALID_FILES = (
    *("port = '80'", "port = 1.5", "port = true", "host = 7", "announce = 'yes'", "prot = 1"),
    *("log_level = 'info'", "[limits]\nroom = 1", "[limit]\nrooms = 1", "limits = 1", "port = "),
    *("trusted-proxies = ['proxy']", "tls-key = 'key.pem'"),
    *("origins = ['https://cards.example.org/lobby']", "tides = ['24:00 willow']"),
    *("tides = ['*:30 willow', '9:30 spider']", "tides = ['*:30 willow', '09:30 spider']"),
    *("tides = {noon = 'willow'}", f"tides = {[f'*:0{minute} willow' for minute in range(5)]}"),
)
INVALID_VARIABLES: tuple[dict[str, str], ...] = (
    *({"SAMEDEAL_PORT": ""}, {"SAMEDEAL_HOSTS": "a"}, {"SAMEDEAL_QQ": "a"}),
    *({"SAMEDEAL_SERVICE_HOST": "10.0.0.1"}, {"SAMEDEAL_PORT_7777_TCP": "tcp://10.0.0.1:7777"}),
    *({"SAMEDEAL_PUBLIC_URL": "here"},),
)


def test_sentences_of_invalid_settings() -> None:
    lines = [f"{flags!a}\t{refusal(flags)}" for flags in INVALID_FLAGS]
    lines += [f"{file!a}\t{refusal(file=file)}" for file in INVALID_FILES]
    for environment in INVALID_VARIABLES:
        ((name, value),) = environment.items()
        lines.append(f"{f'{name}={value}'!a}\t{refusal(environment=environment)}")
    assert_sentences("settings", lines)


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


def test_other_variables_are_ignored() -> None:
    assert reading(environment={"SAMEDEAL_DEBUG": "1", "PORT": "x"}).values == Config()


def test_printed_settings_can_be_read_again() -> None:
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
def test_password_is_not_printed(url: str, shown: str) -> None:
    assert f'redis = "{shown}"  # --redis\n' in describe(reading(f"--redis {url}"))


def test_list_can_be_given_in_several_flags() -> None:
    given = reading("--hook https://a.example/s3cret --hook ntfy+https://b.example/s3cret,http://c.example/s3cret")
    assert given.values.hook == tuple(f"{host}.example/s3cret" for host in ("https://a", "ntfy+https://b", "http://c"))
    assert 'hook = ["https://***", "ntfy+https://***", "http://***"]  # --hook\n' in describe(given)


def test_help_lists_every_setting_and_variable() -> None:
    text = " ".join(parser().format_help().split())
    for row in table(Config):
        assert f"{row.flag} " in text
        assert row.variable in text


def test_names_are_unique() -> None:
    rows = table(Config)
    assert len({row.name for row in rows}) == len(rows)
    assert not {row.variable for row in rows} & OTHER_VARIABLES


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


def test_print_config_prints_settings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "race.toml"
    file.write_text("port = 4000\n")
    assert main(["--config", str(file), "--print-config"]) == 0
    assert f"port = 4000  # {file}: port\n" in capsys.readouterr().out


def test_user_without_home_uses_the_system_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> Path:
        raise RuntimeError(path)

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", fail)
    assert default_data() == Path("/var/lib/samedeal/server")

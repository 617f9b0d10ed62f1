"""What a server says of itself when players can come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from samedeal_client.net.address import parse_address
from samedeal_server import greeting as greetings
from samedeal_server.config import Config
from samedeal_server.greeting import doors, greeting

LAN = "192.168.1.20"


@pytest.fixture(autouse=True)
def lan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greetings, "_own_address", lambda host: "fd00::20" if ":" in host else LAN)


@pytest.mark.parametrize(
    ("config", "here", "share"),
    [
        (Config(), "ws://127.0.0.1:5", "ws://127.0.0.1:5"),
        (Config(host="localhost"), "ws://localhost:5", "ws://localhost:5"),
        (Config(host="::1"), "ws://[::1]:5", "ws://[::1]:5"),
        (Config(host="10.0.0.7"), "ws://10.0.0.7:5", "ws://10.0.0.7:5"),
        (Config(host="0.0.0.0"), "ws://127.0.0.1:5", f"ws://{LAN}:5"),
        (Config(host="::"), "ws://[::1]:5", "ws://[fd00::20]:5"),
        (Config(host="0.0.0.0", tls_cert=Path("c"), tls_key=Path("k")), "wss://127.0.0.1:5", f"wss://{LAN}:5"),
        (Config(public_url="wss://cards.example.org/"), "ws://127.0.0.1:5", "wss://cards.example.org"),
        (Config(public_url="https://cards.example.org"), "ws://127.0.0.1:5", "https://cards.example.org"),
    ],
)
def test_the_address_to_pass_on(config: Config, here: str, share: str) -> None:
    found = doors(config, 5)
    assert (found.here, found.share) == (here, share)
    text = greeting(config, found, "")
    assert f"samedeal join {share}\n" in text
    assert f"samedeal new {share}\n" in text
    assert parse_address(share).url.startswith(("ws://", "wss://"))


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (Config(), True),
        (Config(host="localhost"), True),
        (Config(host="::1"), True),
        (Config(host="0.0.0.0"), False),
        (Config(host="10.0.0.7"), False),
        (Config(public_url="wss://cards.example.org"), False),
    ],
)
def test_who_can_come_is_told(config: Config, told: bool) -> None:
    assert ("Only this machine can reach it" in greeting(config, doors(config, 5), "")) is told


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (Config(host="10.0.0.7"), False),
        (Config(host="8.8.8.8"), True),
        (Config(host="2600::1"), True),
        (Config(host="8.8.8.8", tls_cert=Path("c"), tls_key=Path("k")), False),
        (Config(public_url="wss://8.8.8.8"), False),
        (Config(public_url="ws://8.8.8.8"), True),
    ],
)
def test_who_is_reached_over_the_internet_in_clear_is_told(config: Config, told: bool) -> None:
    assert ("can be read on the way" in greeting(config, doors(config, 5), "")) is told


def test_where_things_are() -> None:
    config = Config(data=Path("/srv/samedeal"))
    text = greeting(config, doors(config, 5), "http://127.0.0.1:9777")
    assert "data          /srv/samedeal\n" in text
    assert "health        http://127.0.0.1:9777/readyz, http://127.0.0.1:9777/metrics\n" in text
    shared = replace(config, redis="rediss://user:sesam@redis.example.org:6379/0")
    text = greeting(shared, doors(shared, 5), "")
    assert "in Redis at redis.example.org:6379\n" in text
    assert "sesam" not in text
    assert "health" not in text


def test_a_machine_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greetings, "_own_address", lambda _: "")
    found = doors(Config(host="0.0.0.0"), 5)
    assert (found.here, found.share, found.elsewhere) == ("ws://127.0.0.1:5",) * 2 + (False,)


def test_its_own_address_is_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    share = doors(Config(host="0.0.0.0"), 5).share
    assert parse_address(share).url == share

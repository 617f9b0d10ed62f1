"""Tests of the addresses and the banner of a node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from samedeal_client.net.address import parse_address
from samedeal_server.config.config import Config
from samedeal_server.process.banner import ListenAddresses, banner, listen_addresses
from tests.golden.golden_files import assert_sentences

LAN = "192.168.1.20"


def lan_address(host: str) -> str:
    return "fd00::20" if ":" in host else LAN


def addresses_of(config: Config) -> ListenAddresses:
    return listen_addresses(config, 5, lan_address)


HERE, NET = "this machine only", "unencrypted"
TLS: dict[str, Any] = {"tls_cert": Path("c"), "tls_key": Path("k")}


@pytest.mark.parametrize(
    ("settings", "local", "public", "hints"),
    [
        ({}, "ws://127.0.0.1:5", "ws://127.0.0.1:5", HERE),
        ({"host": "localhost"}, "ws://localhost:5", "ws://localhost:5", HERE),
        ({"host": "::1"}, "ws://[::1]:5", "ws://[::1]:5", HERE),
        ({"host": "10.0.0.7"}, "ws://10.0.0.7:5", "ws://10.0.0.7:5", ""),
        ({"host": "0.0.0.0"}, "ws://127.0.0.1:5", f"ws://{LAN}:5", ""),
        ({"host": "::"}, "ws://[::1]:5", "ws://[fd00::20]:5", ""),
        ({"host": "all"}, "ws://127.0.0.1:5", f"ws://{LAN}:5", ""),
        ({"host": "0.0.0.0", **TLS}, "wss://127.0.0.1:5", f"wss://{LAN}:5", ""),
        ({"host": "8.8.8.8"}, "ws://8.8.8.8:5", "ws://8.8.8.8:5", NET),
        ({"host": "2600::1"}, "ws://[2600::1]:5", "ws://[2600::1]:5", NET),
        ({"host": "8.8.8.8", **TLS}, "wss://8.8.8.8:5", "wss://8.8.8.8:5", ""),
        ({"public_url": "wss://cards.example.org/"}, "ws://127.0.0.1:5", "wss://cards.example.org", ""),
        ({"public_url": "https://cards.example.org"}, "ws://127.0.0.1:5", "https://cards.example.org", ""),
        ({"public_url": "wss://8.8.8.8"}, "ws://127.0.0.1:5", "wss://8.8.8.8", ""),
        ({"public_url": "ws://8.8.8.8"}, "ws://127.0.0.1:5", "ws://8.8.8.8", NET),
    ],
)
def test_banner_has_addresses_and_hints(settings: dict[str, Any], local: str, public: str, hints: str) -> None:
    config = Config(**settings)
    addresses = addresses_of(config)
    assert (addresses.local, addresses.public) == (local, public)
    text = banner(config, addresses, "")
    assert f"samedeal join {public}\n" in text
    assert f"samedeal new {public}\n" in text
    assert parse_address(public).url.startswith(("ws://", "wss://"))
    assert ("--host all" in text, "--tls-cert" in text) == (hints == HERE, hints == NET)


def test_data_and_health_are_shown() -> None:
    config = Config(data=Path("/srv/samedeal"))
    text = banner(config, addresses_of(config), "http://127.0.0.1:9777")
    assert "data          /srv/samedeal\n" in text
    assert "health        http://127.0.0.1:9777/readyz, http://127.0.0.1:9777/metrics\n" in text
    shared = replace(config, redis="rediss://user:sesam@redis.example.org:6379/0")
    text = banner(shared, addresses_of(shared), "")
    assert "redis.example.org:6379\n" in text
    assert "sesam" not in text
    assert "health" not in text


def test_machine_without_network_is_not_reachable() -> None:
    addresses = listen_addresses(Config(host="0.0.0.0"), 5, lambda _: "")
    assert addresses == ListenAddresses("ws://127.0.0.1:5", "ws://127.0.0.1:5", reachable_from_elsewhere=False)
    assert "--host" not in banner(Config(host="0.0.0.0"), addresses, "")


def test_own_address_is_valid() -> None:
    public = listen_addresses(Config(host="0.0.0.0"), 5).public
    assert parse_address(public).url == public


def test_sentences_of_the_banner() -> None:
    tls = Config(host="0.0.0.0", tls_cert=Path("cert.pem"), tls_key=Path("key.pem"), data=Path("/srv/samedeal"))
    cases = {
        "this machine": Config(data=Path("/srv/samedeal")),
        "network": Config(host="0.0.0.0", data=Path("/srv/samedeal")),
        "internet": Config(host="8.8.8.8", redis="redis://redis.example.org:6379/0"),
        "TLS": tls,
    }
    lines = [
        f"{case}\t{line}"
        for case, config in cases.items()
        for line in banner(config, addresses_of(config), "http://127.0.0.1:9777").splitlines()
        if line
    ]
    everywhere = Config(host="all")
    offline = banner(everywhere, listen_addresses(everywhere, 5, lambda _: ""), "")
    lines.append(f"no network\t{offline.splitlines()[-2]}")
    assert_sentences("banner", lines)


@pytest.mark.parametrize(
    ("config", "page"),
    [
        (Config(), "http://127.0.0.1:5"),
        (Config(tls_cert=Path("c"), tls_key=Path("k"), host="10.0.0.7"), "https://10.0.0.7:5"),
        (Config(public_url="wss://cards.example.org/games"), "https://cards.example.org/games"),
        (Config(public_url="https://cards.example.org"), "https://cards.example.org"),
        (Config(public_url="samedeal://cards.example.org"), "https://cards.example.org:7777"),
    ],
)
def test_banner_shows_the_page(config: Config, page: str) -> None:
    assert f"   {page} in a browser\n" in banner(config, addresses_of(config), "")
    assert "browser" not in banner(replace(config, page=False), addresses_of(config), "")

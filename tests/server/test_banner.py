"""Tests of the addresses and the banner of a node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from samedeal_link.connection.address import parse_address
from samedeal_server.config.config import Config
from samedeal_server.process.banner import ListenAddresses, banner, listen_addresses
from tests.golden.golden_files import assert_answers

LAN = "192.168.1.20"


def lan_address(host: str) -> str:
    return "fd00::20" if ":" in host else LAN


def addresses_of(config: Config) -> ListenAddresses:
    return listen_addresses(config, 5, lan_address)


TLS: dict[str, Any] = {"tls_cert": Path("c"), "tls_key": Path("k")}


def test_banner_says_what_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        words = [word for word in question.removesuffix(", tls").split(", ") if word != "no setting"]
        settings: dict[str, Any] = dict(word.split("=") for word in words)
        config = Config(**settings, **(TLS if question.endswith(", tls") else {}))
        addresses = addresses_of(config)
        text = banner(config, addresses, "")
        public = addresses.public
        assert f"samedeal join {public}\n" in text
        assert f"samedeal new {public}\n" in text
        assert parse_address(public).url.startswith(("ws://", "wss://"))
        assert "browser" not in banner(replace(config, page=False), addresses, "")
        page = text.partition(" in a browser\n")[0].split()[-1]
        hints = [hint for hint in ("--host all", "--tls-cert") if hint in text]
        return f"{addresses.local}, {public}, {page} in a browser{''.join(f', advises {hint}' for hint in hints)}"

    assert_answers("banner", answer)

"""Parsing of addresses in every form, and the errors for invalid ones."""

from __future__ import annotations

import pytest

from samedeal.errors import MalformedText
from samedeal_client.commands.host import shared_address
from samedeal_client.net.address import ServerAddress, parse_address
from tests.golden.golden_files import assert_sentences


@pytest.mark.parametrize(
    ("text", "url", "room"),
    [
        ("localhost", "ws://localhost:7777", None),
        ("LOCALHOST:8000", "ws://localhost:8000", None),
        ("127.0.0.1", "ws://127.0.0.1:7777", None),
        ("127.9.9.9:1", "ws://127.9.9.9:1", None),
        ("[::1]", "ws://[::1]:7777", None),
        ("[::1]:9000", "ws://[::1]:9000", None),
        ("pub.localhost", "ws://pub.localhost:7777", None),
        ("games.example.org", "wss://games.example.org:7777", None),
        ("Games.Example.org:443", "wss://games.example.org:443", None),
        ("192.168.1.5", "wss://192.168.1.5:7777", None),
        ("[2001:db8::7]:9000", "wss://[2001:db8::7]:9000", None),
        ("example.org/friday", "wss://example.org:7777", "friday"),
        ("example.org/", "wss://example.org:7777", None),
        ("localhost:7777/K7M2QX", "ws://localhost:7777", "k7m2qx"),
        ("  localhost  ", "ws://localhost:7777", None),
        ("ws://192.168.1.5:7777", "ws://192.168.1.5:7777", None),
        ("ws://192.168.1.5:7777/", "ws://192.168.1.5:7777", None),
        ("wss://example.org", "wss://example.org", None),
        ("WSS://example.org/play?v=1", "wss://example.org/play?v=1", None),
        ("samedeal://example.org/k7m2qx", "wss://example.org:7777", "k7m2qx"),
        ("samedeal://example.org:9000/k7m2qx/", "wss://example.org:9000", "k7m2qx"),
        ("samedeal://example.org", "wss://example.org:7777", None),
        ("samedeal://localhost/a", "ws://localhost:7777", "a"),
        ("https://example.org/r/k7m2qx", "wss://example.org", "k7m2qx"),
        ("https://example.org:8443/r/k7m2qx/", "wss://example.org:8443", "k7m2qx"),
        ("https://example.org/games/r/friday", "wss://example.org/games", "friday"),
        ("https://example.org/k7m2qx", "wss://example.org", "k7m2qx"),
        ("https://example.org:8443/games/Friday?embed", "wss://example.org:8443/games", "friday"),
        ("https://example.org/games/", "wss://example.org/games", None),
        ("https://example.org/", "wss://example.org", None),
        ("http://10.0.0.3:8080/r/friday", "ws://10.0.0.3:8080", "friday"),
    ],
)
def test_address_is_parsed(text: str, url: str, room: str | None) -> None:
    assert parse_address(text) == ServerAddress(url, room)


INVALID = (
    "",
    "   ",
    "two words",
    "local\x1bhost",
    "ftp://example.org",
    "ws://",
    ":7777",
    "/friday",
    "-x",
    "localhost:0",
    "localhost:65536",
    "localhost:seven",
    "[::zz]:1",
    "[::1",
    "ana:secret@localhost",
    "localhost#friday",
    "example.org/two/rooms",
    "samedeal://example.org/-x-",
    "https://example.org/r/",
)


def test_invalid_address_is_explained() -> None:
    lines = []
    for text in INVALID:
        with pytest.raises(MalformedText) as rejected:
            parse_address(text)
        lines.append(f"{text!a}\t{rejected.value}")
    assert_sentences("addresses", lines)


@pytest.mark.parametrize(
    ("url", "typed"),
    [
        ("ws://localhost:7777", "localhost"),
        ("ws://127.0.0.1:39233", "127.0.0.1:39233"),
        ("wss://example.org:7777", "example.org"),
        ("wss://example.org", "wss://example.org"),
        ("ws://192.168.1.5:7777", "ws://192.168.1.5:7777"),
        ("wss://[2001:db8::7]:7777", "[2001:db8::7]"),
        ("wss://example.org/play", "wss://example.org/play"),
    ],
)
def test_shortest_text_parses_to_the_same_url(url: str, typed: str) -> None:
    assert ServerAddress(url).typed == typed
    assert parse_address(typed) == ServerAddress(url)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("cards.example.org", "https://cards.example.org:7777/friday"),
        ("localhost", "http://localhost:7777/friday"),
        ("wss://cards.example.org/games/", "https://cards.example.org/games/friday"),
    ],
)
def test_page_of_a_room_leads_back_to_it(url: str, page: str) -> None:
    address = parse_address(url)
    assert address.page("friday") == page
    assert parse_address(page) == ServerAddress(address.url, "friday")


def test_address_for_others_keeps_the_port() -> None:
    shared = shared_address(ServerAddress("ws://127.0.0.1:7777"))
    assert shared.port == 7777
    assert not shared.encrypted

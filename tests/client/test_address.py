"""Every form in which players pass an address on, and what is wrong with the others."""

from __future__ import annotations

import pytest

from samedeal.errors import MalformedText
from samedeal_client.net.address import Address, parse_address


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
        ("https://example.org/", "wss://example.org", None),
        ("http://10.0.0.3:8080/r/friday", "ws://10.0.0.3:8080", "friday"),
    ],
)
def test_an_address(text: str, url: str, room: str | None) -> None:
    assert parse_address(text) == Address(url, room)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not an address"),
        ("   ", "is not an address"),
        ("two words", "is not an address"),
        ("local\x1bhost", "is not an address"),
        ("ftp://example.org", "'ftp' is not the start of an address"),
        ("ws://", "has no host"),
        (":7777", "has no host"),
        ("/friday", "has no host"),
        ("-x", "has no host"),
        ("localhost:0", "has no port from 1 to 65535"),
        ("localhost:65536", "has no port from 1 to 65535"),
        ("localhost:seven", "has no port from 1 to 65535"),
        ("[::zz]:1", "is not an address"),
        ("[::1", "is not an address"),
        ("ana:secret@localhost", "no user name or password"),
        ("localhost#friday", "a room comes after a slash"),
        ("example.org/two/rooms", "is not a room"),
        ("samedeal://example.org/-x-", "is not a room"),
        ("https://example.org/r/", "is not a room"),
    ],
)
def test_no_address(text: str, why: str) -> None:
    with pytest.raises(MalformedText, match=why):
        parse_address(text)


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
def test_the_shortest_text_comes_back_to_the_same_place(url: str, typed: str) -> None:
    assert Address(url).typed == typed
    assert parse_address(typed) == Address(url)

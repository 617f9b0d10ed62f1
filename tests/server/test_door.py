"""Whose pages a browser may connect from. A browser says it in ``Origin``; other clients say nothing, and come in."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import Ping, Pong
from samedeal_server.door import is_same_host
from tests.server.client import Client
from tests.server.conftest import NodeMaker
from tests.server.wire import Wire, handshake


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("https://cards.example.org", "cards.example.org", True),
        ("https://cards.example.org", "cards.example.org:443", True),
        ("https://cards.example.org:443", "cards.example.org", True),
        ("http://cards.example.org", "cards.example.org:80", True),
        ("HTTPS://Cards.Example.org", "cards.EXAMPLE.org", True),
        ("http://127.0.0.1:7777", "127.0.0.1:7777", True),
        ("http://[::1]:7777", "[::1]:7777", True),
        ("http://[::1]", "[::1]", True),
        ("https://cards.example.org", "cards.example.org:7777", False),
        ("https://cards.example.org:7777", "cards.example.org", False),
        ("https://cards.example.org", "cards.example.org.evil.example", False),
        ("https://cards.example.org.evil.example", "cards.example.org", False),
        ("https://evil.example", "cards.example.org", False),
        ("https://cards.example.org@evil.example", "cards.example.org", False),
        ("https://evil.example#cards.example.org", "cards.example.org", False),
        ("https://evil.example", "evil.example@cards.example.org", False),
        ("http://127.0.0.1:7777", "localhost:7777", False),
        ("null", "cards.example.org", False),
        ("null", "null", False),
        ("null", "", False),
        ("", "", False),
        ("https://", "", False),
        ("https://[::1", "[::1", False),
        ("https://a:99999", "a:99999", False),
        ("https://a:b", "a:b", False),
        ("file://", "", False),
    ],
)
def test_which_pages_are_the_server_s_own(origin: str, host: str, same: bool) -> None:
    assert is_same_host(origin, host) is same


async def status(url: str, **headers: str | None) -> bytes:
    """What a node answers to a handshake: its status line and its sentence."""
    wire = await Wire.open(url)
    await wire.send(handshake(**headers))
    head = await wire.head()
    body = b"" if b" 101 " in head.split(b"\r\n")[0] else await wire.eof()
    await wire.close()
    return head.split(b"\r\n")[0] + body


@pytest.mark.parametrize(
    ("origins", "origin", "passes"),
    [
        ((), None, True),
        ((), "https://cards.example.org", True),
        ((), "https://evil.example", False),
        ((), "null", False),
        (("https://club.example",), "https://club.example", True),
        (("https://Club.example/",), "https://club.example", True),
        (("https://club.example",), "http://club.example", False),
        (("https://club.example",), "https://cards.example.org", True),
        (("https://club.example",), "https://evil.example", False),
        (("*",), "https://evil.example", True),
        (("*",), "null", True),
        (("null",), "null", True),
    ],
)
async def test_a_browser_comes_in_from_the_server_s_own_pages_and_those_allowed(
    node: NodeMaker, origins: tuple[str, ...], origin: str | None, passes: bool
) -> None:
    one = await node(origins=origins)
    answer = await status(one.url, Origin=origin)
    if passes:
        assert b" 101 " in answer
    else:
        assert b" 403 " in answer
        assert f"takes no connections from pages of {origin}".encode() in answer
        assert b"--origins" in answer


async def test_no_second_origin_or_host_slips_in(node: NodeMaker) -> None:
    one = await node()
    both = "https://cards.example.org\r\nOrigin: https://evil.example"
    assert b" 403 " in await status(one.url, Origin=both)
    hosts = "cards.example.org\r\nHost: evil.example"
    assert b" 403 " in await status(one.url, Origin="https://evil.example", Host=hosts)
    assert b" 403 " in await status(one.url, Origin="https://evil.example", Host=None)


async def test_what_is_said_of_an_origin_can_be_shown_on_a_terminal(node: NodeMaker) -> None:
    one = await node()
    answer = await status(one.url, Origin="https://\xe9\x9b2J" + "x" * 500)
    assert b" 403 " in answer
    assert b"\x9b" not in answer
    assert len(answer) < 400
    ana = await Client.connect(one.url)
    await ana.want(Pong, Ping)

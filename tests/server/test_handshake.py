"""The origins of web pages that may connect. Clients other than browsers send no ``Origin`` and are admitted."""

from __future__ import annotations

import pytest
import structlog

from samedeal.protocol.messages import Ping, Pong
from samedeal_server.connections.handshake_admission import is_same_host
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.raw_client import Wire, handshake


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
        *((host, name, False) for host in ("null", "") for name in ("cards.example.org", "null", "")),
        *(("https://", "", False), ("file://", "", False), ("https://[::1", "[::1", False)),
        *(("https://a:99999", "a:99999", False), ("https://a:b", "a:b", False)),
    ],
)
def test_same_host_recognizes_the_server_s_own_pages(origin: str, host: str, same: bool) -> None:
    assert is_same_host(origin, host) is same


async def status(url: str, **headers: str | None) -> bytes:
    """Send a handshake and return the status line and the sentence of the answer."""
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
async def test_origin_of_a_page_is_checked(
    node: NodeMaker, origins: tuple[str, ...], origin: str | None, passes: bool
) -> None:
    one = await node(origins=origins, public_url="wss://cards.example.org")
    answer = await status(one.url, Origin=origin)
    if passes:
        assert b" 101 " in answer
    else:
        assert b" 403 " in answer
        assert f"pages of {origin}".encode() in answer
        assert b"--origins" in answer


async def test_second_origin_or_host_is_rejected(one: Node) -> None:
    both = "https://cards.example.org\r\nOrigin: https://evil.example"
    assert b" 403 " in await status(one.url, Origin=both)
    hosts = "cards.example.org\r\nHost: evil.example"
    assert b" 403 " in await status(one.url, Origin="https://evil.example", Host=hosts)
    assert b" 403 " in await status(one.url, Origin="https://evil.example", Host=None)


async def test_rejected_origin_is_sanitized(one: Node) -> None:
    answer = await status(one.url, Origin="https://\xe9\x9b2J" + "x" * 500)
    assert b" 403 " in answer
    assert b"\x9b" not in answer
    assert len(answer) < 400
    ana = await Client.connect(one.url)
    await ana.expect(Pong, Ping)


@pytest.mark.parametrize(
    ("host", "passes"),
    [
        ("localhost:7777", True),
        ("127.0.0.1:7777", True),
        ("[::1]:7777", True),
        ("cards.example.org:7777", True),
        ("evil.example:7777", False),
        ("192.0.2.7:7777", False),
    ],
)
async def test_rebound_name_is_rejected_on_loopback(node: NodeMaker, host: str, passes: bool) -> None:
    """A web site's own name may lead to the visitor's machine (DNS rebinding). Its pages are not the server's."""
    one = await node(public_url="wss://cards.example.org")
    answer = await status(one.url, Host=host, Origin=f"http://{host}")
    assert (b" 101 " in answer) == passes


@pytest.mark.parametrize("host", ["localhost:7777", "evil.example:7777"])
async def test_dual_stack_node_knows_loopback(node: NodeMaker, host: str) -> None:
    """A socket for IPv4 and IPv6 shows IPv4 addresses as IPv6 addresses."""
    one = await node(host="all")
    answer = await status(one.url, Host=host, Origin=f"http://{host}")
    assert (b" 101 " in answer) == (host == "localhost:7777")


async def test_ignored_proxy_header_is_logged_once(node: NodeMaker) -> None:
    one = await node(trusted_proxies=("203.0.113.7",))
    with structlog.testing.capture_logs() as events:
        await status(one.url)
        assert not [event for event in events if event["event"] == "forwarded_for_ignored"]
        for _ in range(3):
            await status(one.url, **{"X-Forwarded-For": "192.0.2.7"})
    (ignored,) = [event for event in events if event["event"] == "forwarded_for_ignored"]
    assert (ignored["log_level"], ignored["address"]) == ("warning", "127.0.0.1")


async def test_header_of_trusted_proxy_is_not_logged(node: NodeMaker) -> None:
    one = await node(trusted_proxies=("127.0.0.1",))
    with structlog.testing.capture_logs() as events:
        await status(one.url, **{"X-Forwarded-For": "192.0.2.7"})
    assert not [event for event in events if event["event"] == "forwarded_for_ignored"]


async def test_trusted_proxy_may_use_any_name(node: NodeMaker) -> None:
    one = await node(trusted_proxies=("127.0.0.1",))
    assert b" 101 " in await status(one.url, Host="cards.example.org", Origin="https://cards.example.org")

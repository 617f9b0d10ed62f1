"""The origins of web pages that may connect. Clients other than browsers send no ``Origin`` and are admitted."""

from __future__ import annotations

import pytest
import structlog

from samedeal.protocol.messages import Ping, Pong
from samedeal_server.connections.handshake_admission import is_same_host
from tests.golden.golden_files import assert_answered
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.raw_client import Wire, handshake


async def status(url: str, **headers: str | None) -> bytes:
    """Send a handshake and return the status line and the sentence of the answer."""
    wire = await Wire.open(url)
    await wire.send(handshake(**headers))
    head = await wire.head()
    body = b"" if b" 101 " in head.split(b"\r\n")[0] else b": " + await wire.eof()
    await wire.close()
    return head.split(b"\r\n")[0] + body


async def test_origins_of_pages_are_checked_as_the_page_says(node: NodeMaker) -> None:
    """A web site's own name may lead to the visitor's machine (DNS rebinding). Its pages are not the server's."""
    nodes: dict[str, Node] = {}

    async def answer(heading: str, question: str) -> str:
        origin, to, host = question.partition(" to ")
        if heading == "Pages of the server itself":
            return "the same" if is_same_host(origin, host) else "another"
        admitted = heading.rpartition(" admits pages of ")[2]
        if heading not in nodes:
            origins = () if admitted == "nobody else" else (admitted,)
            nodes[heading] = await node(origins=origins, public_url="wss://cards.example.org")
        here = {"Host": host} if to else {}
        return (await status(nodes[heading].url, Origin=None if origin == "no page" else origin, **here)).decode()

    await assert_answered("origins", answer)


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


async def test_trusted_proxy_may_use_any_name(node: NodeMaker) -> None:
    one = await node(trusted_proxies=("127.0.0.1",))
    here = {"Host": "cards.example.org", "Origin": "https://cards.example.org", "X-Forwarded-For": "192.0.2.7"}
    with structlog.testing.capture_logs() as events:
        assert b" 101 " in await status(one.url, **here)
    assert not [event for event in events if event["event"] == "forwarded_for_ignored"]

"""Server-sent events: listeners on every node hear of public races, and of nothing else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from samedeal_server.api import news_listeners
from samedeal_server.config.limits import Limits
from samedeal_server.store.news import NewsId, NewsStore
from tests.server.client import DEADLINE
from tests.server.live_nodes import Node, NodeMaker
from tests.server.plain_http import ask, request
from tests.server.races import raced
from tests.server.raw_client import Wire

PATH = "/api/v1/events"

Told = tuple[str, str, dict[str, Any]]
"""The id of an event, its name, and its data."""


class Listener:
    """A client that listens."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    async def block(self) -> str:
        async with asyncio.timeout(DEADLINE):
            return (await self.wire.reader.readuntil(b"\n\n")).decode().strip()

    async def event(self) -> Told:
        id_, event, data = (line.partition(": ")[2] for line in (await self.block()).split("\n"))
        return id_, event, json.loads(data)


async def listen(one: Node, last: str | None = None, address: str | None = None, query: str = "") -> Listener:
    """Begin to listen to a node, perhaps after the event with the id ``last``, from the ``address`` a proxy names."""
    wire = await request(one.url, PATH + query, Last_Event_ID=last, X_Forwarded_For=address)
    head = (await wire.head()).decode()
    assert head.startswith("HTTP/1.1 200 OK\r\n"), head
    assert "text/event-stream" in head
    assert "access-control-allow-origin: *" in head.lower()
    listener = Listener(wire)
    assert await listener.block() == "retry: 3000"
    return listener


async def test_listener_hears_of_races_of_all_nodes(one: Node, two: Node) -> None:
    """A private race, and races that nobody may watch or that others can't enter, go on meanwhile."""
    listeners = [await listen(one), await listen(two)]
    ana, bo = await one.player("ana"), await two.player("bo")
    for client, room, passphrase, options in (
        (bo, "secret", "x", {}),
        (bo, "closed", "", {"spectators": False}),
        (bo, "single", "", {"spectators": False, "players": 1}),
        (ana, "friday", "", {}),
    ):
        await client.create(room, passphrase, **options)
        await raced(room, client, passphrase=passphrase)
    heard = [[await each.event() for _ in range(4)] for each in listeners]
    assert heard[0] == heard[1]
    assert [(event, news["room"]["room"]) for _, event, news in heard[0]] == [
        ("opened", "closed"),
        ("opened", "friday"),
        ("started", "friday"),
        ("finished", "friday"),
    ]
    news = heard[0][-1][2]
    assert [line["name"] for line in news["standings"]] == ["ana"]
    assert (await ask(one.url, f"/api/v1/races/{news['race']}")).status == 200, "the record comes first"
    resumed = await listen(two, last=heard[0][1][0])
    assert [await resumed.event() for _ in range(2)] == heard[0][2:]
    begun = await listen(two, query=f"?after={heard[0][1][0]}")
    assert [await begun.event() for _ in range(2)] == heard[0][2:]
    further = await listen(one, last=heard[0][2][0], query="?after=0-0")
    assert await further.event() == heard[0][3], "a browser that reconnects says more than its address"


async def test_number_of_listeners_is_bounded(node: NodeMaker) -> None:
    one = await node(Limits(listeners=1))
    listener = await listen(one)
    await one.becomes("news_listeners", 1)
    assert (await ask(one.url, PATH)).status == 503
    assert (await ask(one.url, PATH, "HEAD")).status == 200
    await listener.wire.close()
    await one.becomes("news_listeners", 0)
    await listen(one)


async def test_addresses_share_the_places_of_listeners(node: NodeMaker) -> None:
    """A twentieth is for each, and the newest listener of the largest one gives way, but never in turns."""
    one = await node(Limits(listeners=40), trusted_proxies=("127.0.0.1",))
    addresses = [f"2001:db8:{number}::{each}" for number in range(20) for each in (1, 2)]

    async def status(address: str) -> int:
        return (await ask(one.url, PATH, **{"X-Forwarded-For": address})).status

    listeners = [await listen(one, address=address) for address in addresses[:2]]
    await one.becomes("news_listeners", 2)
    assert await status("2001:db8:0:7::3") == 503
    listeners += [await listen(one, address=address) for address in addresses[2:]]
    await one.becomes("news_listeners", 40)
    newcomer = await listen(one, address="203.0.113.1")
    assert await listeners[1].wire.eof() == b""
    await one.becomes("news_listeners", 40)
    assert await status("203.0.113.1") == await status("2001:db8:0::4") == 503
    await (await one.player()).create("friday")
    assert (await newcomer.event())[1] == (await listeners[0].event())[1] == "opened"


async def test_slow_listener_is_disconnected(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news_listeners, "INTERVAL", 0.01)
    monkeypatch.setattr(news_listeners, "MAX_UNSENT", -1)
    one = await node()
    listener = await listen(one)
    await (await one.player()).create("friday")
    await one.becomes("slow_clients_disconnected_total", 1)
    await listener.wire.eof()


async def test_listener_gets_comments_and_no_pings(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news_listeners, "INTERVAL", 0.01)
    monkeypatch.setattr("samedeal_server.connections.client_socket.PING_INTERVAL", 0.01)
    listener = await listen(await node())
    assert [await listener.block() for _ in range(3)] == [":"] * 3


@pytest.mark.parametrize("is_new", [False, True])
async def test_stopping_node_disconnects_listeners(one: Node, monkeypatch: pytest.MonkeyPatch, is_new: bool) -> None:
    """Also one whose position among the news is being read, and nothing but events is ever sent."""
    if is_new:

        async def newest(_: NewsStore) -> NewsId:
            await one.gateway.drain()
            return NewsId(0, 0)

        monkeypatch.setattr(NewsStore, "newest", newest)
        wire = await request(one.url, PATH)
        await wire.head()
    else:
        wire = (await listen(one)).wire
        await one.gateway.drain()
    assert await wire.eof() == b""

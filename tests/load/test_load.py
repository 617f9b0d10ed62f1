"""Short load tests. ``make load`` runs the long ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from websockets.exceptions import InvalidStatus

from samedeal.protocol.messages import (
    Acked,
    Act,
    Hello,
    ListRooms,
    Ping,
    Pong,
    Refused,
    Resign,
    Rooms,
    ToClient,
    ToServer,
)
from samedeal_server.config.limits import Limits
from samedeal_server.process import fd_limits
from samedeal_server.process.fd_limits import RESERVED, fit_to_open_file_limit
from tests.chaos.processes import Node
from tests.load.flood import FLOODS
from tests.load.processes import LoadSetup, end_flood, load_setup, race, url_of
from tests.server.client import DEADLINE, Client

FILES = RESERVED + 16


@pytest.fixture
async def setup() -> AsyncIterator[LoadSetup]:
    async with load_setup() as running:
        yield running


async def test_node_without_free_files_rejects_connections(setup: LoadSetup) -> None:
    node = await setup.node(files=FILES)
    (ana,) = await race(node, "ana", 1)
    inside: list[Client] = []
    with pytest.raises(InvalidStatus) as full:
        await connect_until_full(node, inside)
    assert full.value.response.status_code == 503
    assert len(inside) > 8
    await ana.act("draw")
    for client in inside:
        await client.abort()
    async with asyncio.timeout(10):
        while True:
            try:
                await Client.hello(url_of(node), "bob")
                break
            except InvalidStatus:
                continue
    await ana.act("draw")


async def connect_until_full(node: Node, inside: list[Client]) -> None:
    """Append clients to ``inside`` until the node rejects one with an InvalidStatus."""
    while len(inside) < FILES:
        inside.append(await Client.hello(url_of(node), f"p{len(inside)}"))


async def test_silent_connections_do_not_block_players(setup: LoadSetup) -> None:
    """Open twice as many silent connections as there are file descriptors."""
    node = await setup.node(files=FILES)
    (ana,) = await race(node, "ana", 1)
    silent = [await asyncio.open_connection(*node.target) for _ in range(2 * FILES)]
    await ana.act("draw")
    bob = await Client.hello(url_of(node), "bob")
    await bob.expect(Pong, Ping)
    for _, writer in silent:
        writer.transport.abort()
    await ana.act("draw")


def test_limits_that_fit_are_unchanged() -> None:
    limits = Limits(connections=100, handshakes=20)
    assert fit_to_open_file_limit(limits) == limits


def test_listeners_to_the_news_take_open_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fd_limits, "_raise_limit", lambda wanted: min(wanted, RESERVED + 80))
    limits = fit_to_open_file_limit(Limits())
    assert (limits.connections, limits.handshakes, limits.listeners) == (60, 10, 10)


async def test_node_recovers_after_a_redis_outage(setup: LoadSetup) -> None:
    node = await setup.node()
    ana, bob = await race(node, "racer", 2)
    eve = await Client.hello(url_of(node), "eve")
    await ana.acts(3)
    await setup.redis.kill()
    move: dict[str, Any] = {"id": 1 << 20, "revision": ana.play.revision, "action": "draw"}
    for client, kind, fields in ((ana, Act, move), (bob, Resign, {}), (eve, ListRooms, {}), (ana, Act, move)):
        assert (await client.refused("unavailable", kind, **fields)).retry_after > 0
    stranger = await Client.connect(url_of(node))
    await stranger.refused("unavailable", Hello, name="new")
    await setup.redis.start()
    await wait_until_available(stranger, Hello, name="new")
    ana.apply("draw", cast("Acked", await wait_until_available(ana, Act, **move)))
    await ana.acts(3)
    await bob.acts(3)
    assert [line.room for line in cast("Rooms", await wait_until_available(eve, ListRooms)).rooms] == [ana.room]
    assert node.code is None


async def test_floods_do_not_keep_racers_from_moving(setup: LoadSetup) -> None:
    node = await setup.node(limits=())
    ana, bob = await race(node, "racer", 2)
    floods = [await setup.flood(node, kind, 3) for kind in FLOODS]
    await asyncio.gather(ana.acts(10), bob.acts(10))
    assert all([await end_flood(flood) for flood in floods])
    assert node.code is None


async def wait_until_available(client: Client, kind: Callable[..., ToServer], **fields: Any) -> ToClient:
    """Retry a request, as a client does, while the answer is unavailable."""
    async with asyncio.timeout(DEADLINE):
        while isinstance(answer := await client.ask(kind, **fields), Refused):
            assert answer.code == "unavailable", answer
    return answer

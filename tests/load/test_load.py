"""What a node bears, in short; ``make load`` measures it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from websockets.exceptions import InvalidStatus

from samedeal.protocol.messages import Ping, Pong
from samedeal_server.descriptors import RESERVED, fitting
from samedeal_server.limits import Limits
from tests.chaos.stage import Node
from tests.load.stage import Stage, race, stage, url_of
from tests.server.client import Client

FILES = RESERVED + 16


@pytest.fixture
async def there() -> AsyncIterator[Stage]:
    async with stage() as built:
        yield built


async def test_a_node_that_may_open_few_files_says_that_it_is_full_and_takes_others_when_it_is_not(
    there: Stage,
) -> None:
    node = await there.node(files=FILES)
    (ana,) = await race(node, "ana", 1)
    inside: list[Client] = []
    with pytest.raises(InvalidStatus) as full:
        await fill(node, inside)
    assert full.value.response.status_code == 503
    assert len(inside) > 8
    await ana.act("draw")
    for client in inside:
        await client.cut()
    async with asyncio.timeout(10):
        while True:
            try:
                await Client.hello(url_of(node), "bob")
                break
            except InvalidStatus:
                continue
    await ana.act("draw")


async def fill(node: Node, inside: list[Client]) -> None:
    while len(inside) < FILES:
        inside.append(await Client.hello(url_of(node), f"p{len(inside)}"))


async def test_connections_that_never_say_what_they_want_keep_nobody_out(there: Stage) -> None:
    """Descriptors run out under them, and are given back."""
    node = await there.node(files=FILES)
    (ana,) = await race(node, "ana", 1)
    silent = [await asyncio.open_connection(*node.target) for _ in range(2 * FILES)]
    await ana.act("draw")
    bob = await Client.hello(url_of(node), "bob")
    await bob.want(Pong, Ping)
    for _, writer in silent:
        writer.transport.abort()
    await ana.act("draw")


def test_limits_stay_as_they_are_where_there_are_files_enough() -> None:
    limits = Limits(connections=100, handshakes=20)
    assert fitting(limits) == limits

"""What a node bears, in short; ``make load`` measures it."""

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
from samedeal_server.descriptors import RESERVED, fitting
from samedeal_server.limits import Limits
from tests.chaos.stage import Node
from tests.load.stage import Stage, race, stage, url_of
from tests.server.client import DEADLINE, Client

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
    """Twice as many as there are descriptors."""
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


# ---------------------------------------------------------------- Redis away


async def test_while_redis_is_away_everything_is_unavailable_and_then_goes_on_by_itself(there: Stage) -> None:
    node = await there.node()
    ana, bob = await race(node, "racer", 2)
    eve = await Client.hello(url_of(node), "eve")
    await ana.acts(3)
    await there.redis.kill()
    assert ana.play is not None
    move: dict[str, Any] = {"id": 1 << 20, "revision": ana.play.revision, "action": "draw"}
    for client, kind, fields in ((ana, Act, move), (bob, Resign, {}), (eve, ListRooms, {}), (ana, Act, move)):
        assert (await client.refused("unavailable", kind, **fields)).retry_after > 0
    stranger = await Client.connect(url_of(node))
    await stranger.refused("unavailable", Hello, name="new")
    await there.redis.start()
    await until_available(stranger, Hello, name="new")
    ana.apply("draw", cast("Acked", await until_available(ana, Act, **move)))
    await ana.acts(3)
    await bob.acts(3)
    assert [line.room for line in cast("Rooms", await until_available(eve, ListRooms)).rooms] == [ana.room]
    assert node.code is None


async def until_available(client: Client, kind: Callable[..., ToServer], **fields: Any) -> ToClient:
    """Ask the same again, as a client does, for as long as it is unavailable."""
    async with asyncio.timeout(DEADLINE):
        while isinstance(answer := await client.ask(kind, **fields), Refused):
            assert answer.code == "unavailable", answer
    return answer

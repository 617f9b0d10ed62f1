"""A failover to a replica that lacks the newest of what was acked: clients give it back, and nothing forged is taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from samedeal.protocol.messages import LateBoard, RoomState
from samedeal_client.address import parse_address
from samedeal_client.link import Link
from samedeal_client.sessions import BriefSessions
from samedeal_client.table import Table
from tests.chaos.proxy import Proxy
from tests.server.client import DEADLINE
from tests.server.conftest import Node, NodeMaker
from tests.server.redis_kinds import Server, replicated, until


class Lagging:
    """A Redis at ``url``, and a replica that takes its place and lacks what came after ``fall_behind``."""

    def __init__(self, primary: Server, replica: Server, port: int) -> None:
        self.url = f"redis://127.0.0.1:{port}/0"
        self.serving = primary
        self._primary = primary
        self._replica = replica

    async def fall_behind(self) -> None:
        """Have the replica know all, and nothing of what comes from now on."""
        await self._primary.redis.set("marked", "here")
        await until(lambda: self._replica.redis.get("marked"))
        await self._replica.redis.replicaof("NO", "ONE")

    async def fail(self) -> None:
        """Have the replica serve in place of the primary, which is gone."""
        self.serving = self._replica
        await self._primary.kill()


@pytest.fixture
async def lagging(tmp_path: Path) -> AsyncIterator[Lagging]:
    async with replicated(tmp_path) as (primary, replica):
        found: list[Lagging] = []
        async with Proxy(lambda: [("127.0.0.1", found[0].serving.port)]) as proxy:
            found.append(Lagging(primary, replica, proxy.port))
            yield found[0]


async def seat(stack: AsyncExitStack, one: Node, name: str) -> Table:
    """A player with the client that people play with, which comes back by itself."""
    table = Table(await stack.enter_async_context(Link(parse_address(one.url), name, BriefSessions())))
    task = asyncio.create_task(listen(table))
    stack.callback(task.cancel)
    return table


async def listen(table: Table) -> None:
    async for _ in table:
        pass


async def wait(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(3 * DEADLINE):
        while not holds():
            await asyncio.sleep(0.01)


async def play(table: Table, count: int, rng: Random) -> None:
    """Have so many moves acked."""
    for _ in range(count):
        play = table.model.play
        assert play is not None
        table.act(rng.choice(play.board.legal_moves()))
        await wait(lambda: not table.model.pending)


async def test_clients_give_back_what_was_acked_and_lost(lagging: Lagging, node: NodeMaker) -> None:
    nodes = [await node(redis=lagging.url), await node(redis=lagging.url)]
    async with AsyncExitStack() as stack:
        ana, bob = await seat(stack, nodes[0], "ana"), await seat(stack, nodes[1], "bob")
        wat = await nodes[0].player("wat")
        room = await wat.create(games=("athena",), delay=0)
        for table in (ana, bob):
            await table.join(room)
        await wat.watch(room)
        await ana.start()
        await wait(lambda: ana.model.play and bob.model.play)
        for number, table in enumerate((ana, bob)):
            await play(table, 5, Random(number))
        await lagging.fall_behind()
        for number, table in enumerate((ana, bob)):
            await play(table, 7, Random(10 + number))
        logs = [await nodes[0].store.log(room, table.link.player) for table in (ana, bob)]
        boards = [table.model.play for table in (ana, bob)]
        await lagging.fail()
        await wat.until(LateBoard, lambda board: board.revision == 5)
        for table, log, board in zip((ana, bob), logs, boards, strict=True):
            player = table.link.player
            await until(lambda player=player: came_to(nodes[1], room, player, 12))  # type: ignore[misc]  # a default in a lambda
            assert await nodes[1].store.log(room, player) == log
            assert table.model.play is board
            assert not table.model.astray
            await play(table, 3, Random(20))
            await wat.until(RoomState)
    assert [len(await nodes[1].store.log(room, table.link.player)) for table in (ana, bob)] == [15, 15]


async def came_to(one: Node, room: str, player: str, revision: int) -> bool:
    return len(await one.store.log(room, player)) == revision

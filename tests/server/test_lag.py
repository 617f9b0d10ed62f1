"""A failover to a replica that lacks the newest of what was acked: clients give it back, and nothing forged is taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from samedeal.protocol.messages import Acked, Act, Close, Done, Held, Join, Joined, LateBoard, Recover, Start
from samedeal_client.net.address import parse_address
from samedeal_client.net.link import Link
from samedeal_client.net.sessions import BriefSessions
from samedeal_client.net.table import Table
from samedeal_server.store import keys
from tests.chaos.proxy import Proxy
from tests.server.client import DEADLINE, Client
from tests.server.conftest import Node, NodeMaker
from tests.server.redis_kinds import Server, replicated, until
from tests.server.test_rooms import race, record


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
        while not holds():  # noqa: ASYNC110  # a model is a value: nothing is set when it changes
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
    assert [len(await nodes[1].store.log(room, table.link.player)) for table in (ana, bob)] == [15, 15]


async def came_to(one: Node, room: str, player: str, revision: int) -> bool:
    return len(await one.store.log(room, player)) == revision


async def test_a_finish_that_was_acked_stays_one(lagging: Lagging, node: NodeMaker) -> None:
    one = await node(redis=lagging.url)
    won = record("willow")
    async with AsyncExitStack() as stack:
        ana, bob = await seat(stack, one, "ana"), await one.player("bob")
        room = await bob.create(games=("willow",), deal=str(won.deal), first_home_ends=True)
        await bob.join(room)
        await ana.join(room)
        await bob.want(Done, Start)
        await wait(lambda: ana.model.play)
        actions = [action for _, action in won.actions]
        for action in actions[:-4]:
            ana.act(action)
        await wait(lambda: not ana.model.pending)
        await lagging.fall_behind()
        for action in actions[-4:]:
            ana.act(action)
        finished = await bob.phase("finished")
        bob.inbox.clear()
        await lagging.fail()
        await bob.phase("racing")
        assert (await bob.phase("finished")).standings == finished.standings
        await wait(lambda: ana.model.room is not None and ana.model.room.standings == finished.standings)


# ---------------------------------------------------------------- what is not taken


def held(acked: list[tuple[int, str, Acked]]) -> tuple[Held, ...]:
    return tuple(Held(id=number, action=action, at=answer.at) for number, action, answer in acked)


async def acked_moves(client: Client, count: int) -> list[tuple[int, str, Acked]]:
    """So many moves, each with its id and answer."""
    assert client.play is not None
    return [(100 + number, "draw", await client.act("draw", id=100 + number)) for number in range(count)]


async def test_only_what_was_acked_to_this_player_in_this_room_is_taken(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await race(one, games=("athena",))
    moves, others = await acked_moves(ana, 3), await acked_moves(bob, 3)
    elsewhere, _ = await race(one, games=("athena",))
    theirs = await acked_moves(elsewhere, 3)
    await lose_all(one, ana)
    again = await one.player("ana", ana.session)
    joined = await again.want(Joined, Join, room=ana.room, revision=3)
    assert joined.revision == 0
    good = {"revision": 0, "held": held(moves), "receipt": moves[-1][2].receipt}
    for forged in (
        {"receipt": bytes(16)},
        {"receipt": b""},
        {"receipt": moves[1][2].receipt},
        {"receipt": others[-1][2].receipt},
        {"receipt": theirs[-1][2].receipt},
        {"held": held(moves)[:2]},
        {"held": (*held(moves)[:2], replace(held(moves)[2], at=moves[2][2].at - 1))},
        {"held": held(others), "receipt": others[-1][2].receipt},
        {"held": held(theirs), "receipt": theirs[-1][2].receipt},
    ):
        await again.refused("bad_receipt", Recover, **{**good, **forged})
    await again.refused("stale", Recover, **{**good, "revision": 1})
    assert await one.store.log(ana.room, ana.player) == []
    await again.want(Done, Recover, **good)
    log = await one.store.log(ana.room, ana.player)
    assert [(entry.request, entry.action, entry.at) for entry in log] == [
        (each.id, each.action, each.at) for each in held(moves)
    ]
    await again.want(Done, Recover, **good)
    again.play = ana.play
    again.inbox.clear()
    assert await again.want(Acked, Act, id=102, revision=2, action="draw") == replace(moves[2][2], to=102)
    await again.act("draw")


async def lose_all(one: Node, client: Client) -> None:
    """Have Redis forget what a player has done, as one that has gone back does, and the player be sent away."""
    room, redis = client.room, one.store.redis
    await redis.delete(keys.log(room, client.player), keys.run(room, client.player))
    first, *_ = await redis.xrange(keys.events(room))
    await redis.hset(keys.meta(room), "event", int(first[0].split(b"-")[0]))
    await redis.xtrim(keys.events(room), maxlen=0, approximate=False)
    await one.rooms.hubs[room].pull()
    assert await client.closed() == Close.RESTART


async def test_what_is_given_back_after_time_is_up_counts_no_more(node: NodeMaker) -> None:
    one = await node()
    ana, _ = await race(one, games=("athena",))
    moves = await acked_moves(ana, 2)
    await lose_all(one, ana)
    await one.store.redis.hset(keys.meta(ana.room), "ends", moves[-1][2].at)
    again = await one.player("ana", ana.session)
    await again.want(Joined, Join, room=ana.room, revision=2)
    await again.refused("time_up", Recover, revision=0, held=held(moves), receipt=moves[-1][2].receipt)
    assert len(await one.store.log(ana.room, ana.player)) == 1

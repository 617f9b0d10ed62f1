"""Deploy one release over another, node by node, during a race among clients of both."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import samedeal
from samedeal.board_history import Undo
from samedeal.protocol.codec import decode_to_client
from samedeal.protocol.messages import Done, ListRooms, ProgressUpdate, Rooms, Start, Welcome
from samedeal.record import Record
from tests.end_to_end.processes import Program, Programs
from tests.end_to_end.releases import Release, release_before, release_to_come, tag_before
from tests.golden.golden_files import HERE
from tests.server.client import Client

RECORD = Record.parse((HERE / "records" / "athena.txt").read_text())
"""A won game, recorded in a game where random play never runs out of moves."""

THIS = Release(samedeal.__version__, None)


@pytest.fixture(autouse=True)
def raise_client_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the timeout of the clients, because six processes have to start."""
    monkeypatch.setattr("tests.server.client.DEADLINE", 60.0)


class Player:
    """A client that plays the record by hand, on one node after another."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.actions = [action for _, action in RECORD.actions]

    @property
    def version(self) -> str:
        """The version of the node that this player is connected to."""
        welcome = decode_to_client(self.client.frames[0])
        assert isinstance(welcome, Welcome)
        return welcome.server.removeprefix("samedeal ")

    async def move(self, share: float = 1.0) -> None:
        """Make a share of the remaining moves."""
        for _ in range(int(share * len(self.actions))):
            await self.client.act(self.actions.pop(0))

    async def resume(self, url: str) -> None:
        """Reconnect to another node."""
        before = self.client
        await before.close()
        self.client = await Client.hello(url, session=before.session)
        self.client.undo = before.undo
        await self.client.join(before.room)
        await self.client.dealt()

    async def others_move_on(self) -> None:
        """Wait until every other player moves."""
        for seat in (await self.client.state()).players:
            if seat.player != self.client.player:
                await self.client.until(ProgressUpdate, partial(has_moved, seat.seat))


def has_moved(seat: int, update: ProgressUpdate) -> bool:
    return update.seat == seat and isinstance(update.moves, int)


async def open_room(url: str, **options: Any) -> tuple[Player, str]:
    """Open a room through a node and take a seat in it."""
    client = await Client.hello(url)
    client.undo = Undo(options.get("undo", "no-reveal"))
    room = await client.create(**options)
    await client.join(room)
    return Player(client), room


async def deploy(old: Release, new: Release, programs: Programs, redis: str) -> None:
    """Replace two nodes of one release by nodes of another during a race, and judge the race."""

    async def replaced(node: Program, url: str) -> str:
        node.signal(signal.SIGTERM)
        assert await node.exit_code() == 0
        return (await programs.server("--redis", redis, port=int(url.rpartition(":")[2]), packages=new.packages))[0]

    (one, node_one), (two, node_two) = await asyncio.gather(
        *(programs.server("--redis", redis, packages=old.packages) for _ in range(2))
    )
    ana, room = await open_room(
        one, games=("athena",), deal=str(RECORD.deal), undo="off", players=3, start="full", first_finish_ends=True
    )
    assert ana.version == old.version
    bots = await asyncio.gather(
        *(
            programs.samedeal(
                *("bot", url, room, "--level", "random", "--pace", "200", "--name", name), packages=release.packages
            )
            for name, url, release in (("newer", one, new), ("older", two, old))
        )
    )
    await ana.client.dealt()
    await ana.move(1 / 3)
    for url, node in ((one, node_one), (two, node_two)):
        if node is node_two:
            await assert_shared((one, new), (two, old))
        await ana.resume(await replaced(node, url))
        assert ana.version == new.version
        await ana.others_move_on()
        await ana.move(1 / 2)
    await ana.move()
    over = await ana.client.phase("finished")
    assert [line.player for line in over.standings if line.place == 1] == [ana.client.player]
    assert len(over.standings) == 3
    assert [await bot.exit_code() for bot in bots] == [0, 0]


async def assert_shared(*nodes: tuple[str, Release]) -> None:
    """Check that each of two nodes serves the rooms that were opened through the other."""
    for (opened, _), (entered, release) in (nodes, nodes[::-1]):
        bob, room = await open_room(opened, games=("athena",))
        other = Player(await Client.hello(entered, "cleo"))
        assert other.version == release.version
        assert room in [line.room for line in (await other.client.expect(Rooms, ListRooms)).rooms]
        await other.client.join(room)
        await bob.client.expect(Done, Start)
        for player in (bob, other):
            await player.client.dealt()
            await player.client.acts(5)
            await player.client.close()


async def test_future_release_deploys_over_this_one(programs: Programs, redis_url: str, tmp_path: Path) -> None:
    new = await asyncio.to_thread(release_to_come, tmp_path / "to come")
    await deploy(THIS, new, programs, redis_url)


@pytest.mark.skipif(tag_before() is None, reason="this repository has no release before this tree")
async def test_this_release_deploys_over_the_previous_one(programs: Programs, redis_url: str, tmp_path: Path) -> None:
    old = await asyncio.to_thread(release_before, tag_before() or "", tmp_path / "before")
    await deploy(old, THIS, programs, redis_url)

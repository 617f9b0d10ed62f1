"""A race written down as it is played: the record of it where the client was killed in between."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

from msgspec.structs import replace

from samedeal_client.bots.strategy import Memory, choose
from samedeal_client.net.client import Client
from samedeal_client.rooms.journal import Journal
from tests.client.referee import START, Referee
from tests.client.test_client import until


@contextlib.asynccontextmanager
async def client_of(referee: Referee, directory: Path) -> AsyncIterator[Client]:
    """A client at the referee's table that has just been started; at the end it is gone without a word."""
    fresh = Referee(referee.game.name, options=referee.options)
    fresh.play = referee.play
    fresh.time = referee.time
    client = Client(fresh, journal=Journal(directory))
    tasks = [asyncio.create_task(fresh.judge()), asyncio.create_task(client.run())]
    try:
        await client.join(fresh.room)
        await until(lambda: client.model.board is not None)
        yield client
    finally:
        referee.play = fresh.play
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def files(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


async def play(client: Client, count: int) -> None:
    """Make moves that help, one after another."""
    memory = Memory(Random(1))
    referee = client.link
    assert isinstance(referee, Referee)
    for _ in range(count):
        referee.time += 1_500
        assert client.model.board is not None
        move = choose("greedy", client.model.board, memory)
        assert move is not None
        client.act(move)
        await until(lambda: not client.model.pending)


async def finish(client: Client) -> None:
    referee = client.link
    assert isinstance(referee, Referee)
    await referee.tell(replace(referee.state(), phase="finished", seed=referee.seed))
    await until(lambda: client.model.room is not None and client.model.room.phase == "finished")


async def test_a_race_that_was_begun_by_a_client_that_was_killed_has_a_record(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        await play(client, 5)
    async with client_of(referee, tmp_path) as client:
        await play(client, 4)
        await finish(client)
        assert client.model.record() is None
        record = client.record()
    assert record is not None
    assert len(record.actions) == 9
    assert record.actions[0][0] == referee.time + 1_500 - START
    assert record.replay().board == referee.play.board


async def test_an_action_that_was_refused_is_not_in_it(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        link = client.link
        assert isinstance(link, Referee)
        link.refuse = "Not now"
        await play(client, 3)
    async with client_of(referee, tmp_path) as client:
        await finish(client)
        record = client.record()
    assert record is not None
    assert len(record.actions) == 2


async def test_a_race_of_which_some_was_played_elsewhere_has_none(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path / "here") as client:
        await play(client, 2)
    async with client_of(referee, tmp_path / "elsewhere") as client:
        await play(client, 2)
    async with client_of(referee, tmp_path / "here") as client:
        await play(client, 2)
        await finish(client)
        assert client.record() is None


async def test_a_file_that_was_spoilt_is_no_record(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        await play(client, 2)
    (path,) = files(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + "what is this\n", encoding="utf-8")
    async with client_of(referee, tmp_path) as client:
        await finish(client)
        assert client.record() is None


async def test_only_the_newest_races_are_kept(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:020}-old.txt").write_text("", encoding="utf-8")
    async with client_of(Referee("athena"), tmp_path) as client:
        await play(client, 1)
    kept = files(tmp_path)
    assert len(kept) == 50
    assert kept[0].name.endswith("11-old.txt")


async def test_what_cant_be_written_is_not_and_the_race_goes_on(tmp_path: Path) -> None:
    (tmp_path / "no-directory").write_text("", encoding="utf-8")
    async with client_of(Referee("athena"), tmp_path / "no-directory") as client:
        await play(client, 2)
        await finish(client)
        assert client.record() is not None

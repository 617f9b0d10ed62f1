"""Bots that a player sends: they come, play, go when they are dismissed, and don't outlive whoever sent them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest

from samedeal.options import Options
from samedeal.protocol.messages import RoomState
from samedeal_client.bots.bot import Bot
from samedeal_client.bots.bot_names import BOT_NAMES
from samedeal_client.bots.crew import Crew
from samedeal_client.bots.local import plan_bots
from samedeal_client.net.address import parse_address
from samedeal_client.net.client import Client
from samedeal_client.net.link import Link
from samedeal_client.net.sessions import BriefSessions
from samedeal_client.net.table import Table
from tests.end_to_end.company import DEADLINE, friend, knows, racing, serving


@pytest.fixture(scope="module")
def process(redis_server: str) -> Iterator[str]:
    with serving(redis_server) as address:
        yield address


@pytest.fixture
def server(process: str, redis_url: str) -> str:
    """The address of a server that has no rooms."""
    return process


@contextlib.asynccontextmanager
async def hosting(server: str, passphrase: str = "", **options: object) -> AsyncIterator[Client]:
    """Somebody who has opened the room friday."""
    async with friend(server) as mira:
        made = Options(countdown=0, **options)  # type: ignore[arg-type]  # a test names real options
        await mira.join(await mira.create(made, "friday", passphrase), passphrase)
        yield mira


@contextlib.asynccontextmanager
async def crew_of(server: str) -> AsyncIterator[Crew]:
    crew = Crew(parse_address(server))
    try:
        yield crew
    finally:
        await crew.dismiss()


def names(room: RoomState) -> set[str]:
    return {seat.name for seat in room.players}


def unheard(sentence: str) -> None:
    raise AssertionError(sentence)


async def test_a_bot_comes_is_ready_and_goes_when_it_is_dismissed(server: str) -> None:
    async with hosting(server) as mira, crew_of(server) as crew:
        name = await crew.send("friday", "greedy", "", taken=(), warn=unheard)
        assert name.endswith("(greedy)")
        await knows(mira, lambda room: any(seat.name == name and seat.ready for seat in room.players))
        await crew.dismiss()
        await knows(mira, lambda room: names(room) == {"mira"})


async def test_dismissed_in_a_race_they_are_out_so_that_nobody_waits_for_them(server: str) -> None:
    async with hosting(server) as mira, crew_of(server) as crew:
        await crew.send("friday", "random", "", taken=(), warn=unheard)
        await knows(mira, lambda room: len(room.players) == 2)
        await mira.start()
        await racing(mira)
        await crew.dismiss()
        await knows(mira, lambda room: any(seat.out for seat in room.players))


async def test_bots_have_names_of_their_own(server: str) -> None:
    async with hosting(server) as mira, crew_of(server) as crew:
        free = {plan.name for plan in plan_bots(15, "random", 1, Random(1))}
        last = sorted(free)[7]
        name = await crew.send("friday", "random", "", taken=free - {last}, warn=unheard)
        assert name == last
        await knows(mira, lambda room: names(room) == {name, "mira"})


async def test_no_two_bots_share_a_name_whatever_their_levels_nor_has_one_that_of_a_player(server: str) -> None:
    async with hosting(server, players=16) as mira, crew_of(server) as crew:
        others = {name for name in BOT_NAMES if name not in ("ada", "bo", "cleo")}
        taken = {f"{name} (random)" for name in others - {"mo"}} | {"Mo"}
        sent = [await crew.send("friday", level, "", taken=taken, warn=unheard) for level in ("random", "greedy")]
        assert len({name.partition(" ")[0] for name in sent} - {"ada", "bo", "cleo"}) == 0
        assert sent[0].partition(" ")[0] != sent[1].partition(" ")[0]
        await knows(mira, lambda room: names(room) == {"mira", *sent})


async def test_a_bot_that_is_taken_out_frees_its_seat_and_the_others_stay(server: str) -> None:
    async with hosting(server, players=3) as mira, crew_of(server) as crew:
        first, second = [await crew.send("friday", "random", "", taken=(), warn=unheard) for _ in range(2)]
        await knows(mira, lambda room: names(room) == {"mira", first, second})
        assert crew.sent_to("friday") == (first, second)
        await crew.take_out(first)
        assert crew.names == (second,)
        await knows(mira, lambda room: names(room) == {"mira", second})
        third = await crew.send("friday", "random", "", taken=(), warn=unheard)
        await knows(mira, lambda room: names(room) == {"mira", second, third})


async def test_bots_of_a_room_follow_to_that_of_its_rematch(server: str) -> None:
    async with hosting(server) as mira, crew_of(server) as crew:
        name = await crew.send("friday", "random", "", taken=(), warn=unheard)
        await knows(mira, lambda room: len(room.players) == 2)
        crew.follow("monday", "monday-2")
        assert crew.sent_to("friday") == (name,)
        crew.follow("friday", "friday-2")
        assert (crew.sent_to("friday"), crew.sent_to("friday-2")) == ((), (name,))


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads command lines as Linux shows them")
async def test_a_passphrase_is_handed_over_where_others_cant_read_it(server: str) -> None:
    async with hosting(server, "sesame") as mira, crew_of(server) as crew:
        await crew.send("friday", "random", "sesame", taken=(), warn=unheard)
        await knows(mira, lambda room: len(room.players) == 2)
        bots = [line for line in command_lines() if b"samedeal_client\0bot" in line and server.encode() in line]
        assert bots
        assert not any(b"sesame" in line for line in bots)


def command_lines() -> Iterator[bytes]:
    """Of every process on the machine, as everybody can read them."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


async def test_what_keeps_a_bot_out_is_told(server: str) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    async with hosting(server, "sesame"), crew_of(server) as crew:
        name = await crew.send("friday", "random", "wrong", taken=(), warn=told.put_nowait)
        async with asyncio.timeout(DEADLINE):
            sentence = await told.get()
        assert sentence.startswith(f"{name} has gone: ")
        assert "it was told" in sentence
        assert "not its passphrase" in sentence
        assert crew.names == ()


OWNER = """
import asyncio, sys
from samedeal_client.net.address import parse_address
from samedeal_client.bots.crew import Crew

async def main():
    crew = Crew(parse_address(sys.argv[1]))
    await crew.send("friday", "random", "", taken=(), warn=print)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_bots_go_when_whoever_sent_them_is_killed(server: str) -> None:
    async with hosting(server) as mira:
        owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, server)
        try:
            await knows(mira, lambda room: len(room.players) == 2)
        finally:
            owner.kill()
            await owner.wait()
        await knows(mira, lambda room: names(room) == {"mira"})


async def test_a_bot_that_is_left_as_the_host_starts_the_race_once_all_are_ready(server: str) -> None:
    async with hosting(server) as mira, crew_of(server) as crew:
        name = await crew.send("friday", "random", "", taken=(), warn=unheard)
        await knows(mira, lambda room: name in [seat.name for seat in room.players])
        await mira.leave()
        await mira.join("friday")
        await knows(mira, lambda room: name in [seat.name for seat in room.players if seat.player == room.host])
        await mira.ready(ready=True)
        await racing(mira)


async def test_bots_let_others_be_the_host_of_the_rematch(server: str) -> None:
    async with hosting(server) as mira, Link(parse_address(server), "bot", BriefSessions()) as link:
        table = Table(link)
        await table.join("friday")
        playing = asyncio.create_task(Bot(table, "random", 60, Random(1), stay=True, say=unheard).run())
        await knows(mira, lambda room: any(seat.ready for seat in room.players))
        await mira.start()
        await racing(mira)
        await mira.resign()
        await table.resign()
        await knows(mira, lambda room: room.phase == "finished")
        rematch = await mira.rematch()
        enough_for_a_bot_in_a_hurry = asyncio.get_running_loop().time() + 0.7
        while asyncio.get_running_loop().time() < enough_for_a_bot_in_a_hurry:
            assert not [line for line in await mira.rooms() if line.room == rematch and line.players]
        await mira.join(rematch)
        await knows(mira, lambda room: room.room == "friday-2" and len(room.players) == 2)
        assert mira.model.hosting
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)

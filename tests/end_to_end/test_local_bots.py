"""Bots that a player adds to a room: they join, play, leave when removed, and end with the player's client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest

from samedeal.options import Options
from samedeal.protocol.messages import RoomState
from samedeal_bots.bot import Bot
from samedeal_bots.engine import Engine
from samedeal_client.local.local_bots import LocalBots
from samedeal_link.connection.address import parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.client_session import ClientSession
from samedeal_link.session.room_client import RoomClient
from tests.client.engine_scripts import READY, answering, script
from tests.end_to_end.live_server import friend, until_room
from tests.end_to_end.processes import DEADLINE


@contextlib.asynccontextmanager
async def host_waiting(server: str, passphrase: str = "", **options: object) -> AsyncIterator[ClientSession]:
    """Connect mira, who has opened the room friday."""
    async with friend(server) as mira:
        room_options = Options(countdown=0, **options)  # type: ignore[arg-type]  # a test names real options
        await mira.join(await mira.rooms.create(room_options, "friday", passphrase), passphrase)
        yield mira


@contextlib.asynccontextmanager
async def bots_on(server: str) -> AsyncIterator[LocalBots]:
    bots = LocalBots(parse_address(server))
    try:
        yield bots
    finally:
        await bots.remove_all()


def names(room: RoomState) -> set[str]:
    return {seat.name for seat in room.players}


def children() -> set[str]:
    """The processes that any thread of this process has started and that have not ended."""
    found: set[str] = set()
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread may end meanwhile
            found.update((thread / "children").read_text().split())
    return found


def fail(sentence: str) -> None:
    raise AssertionError(sentence)


async def test_removal_goes_on_if_its_caller_is_cancelled(server: str) -> None:
    async with host_waiting(server), bots_on(server) as bots:
        before = children()
        name = await bots.add("friday", "random", "", taken=(), warn=fail)
        assert children() - before
        removal = asyncio.create_task(bots.remove(name))
        await asyncio.sleep(0)
        removal.cancel()
        await bots.remove_all()
        assert children() <= before


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
async def test_passphrase_is_passed_where_others_cannot_read_it(server: str) -> None:
    async with host_waiting(server, "sesame") as mira, bots_on(server) as bots:
        await bots.add("friday", "random", "sesame", taken=(), warn=fail)
        await until_room(mira, lambda room: len(room.players) == 2)
        commands = [line for line in command_lines() if b"samedeal_client\0bot" in line and server.encode() in line]
        assert commands
        assert not any(b"sesame" in line for line in commands)


def command_lines() -> Iterator[bytes]:
    """Yield the command line of every process on the machine, as any user can read it."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


async def test_refused_bot_is_reported(server: str) -> None:
    warnings: asyncio.Queue[str] = asyncio.Queue()
    async with host_waiting(server, "sesame"), bots_on(server) as bots:
        name = await bots.add("friday", "random", "wrong", taken=(), warn=warnings.put_nowait)
        async with asyncio.timeout(DEADLINE):
            sentence = await warnings.get()
        assert name in sentence
        assert "passphrase" in sentence
        assert bots.names == ()


LOOKS_UNDER_A_CARD = answering("'position 0;'*) answer=draw", "*'; undo yes '*) answer=undo", "*) answer=resign")


@pytest.mark.parametrize(
    ("text", "peek", "code", "undos"),
    [(LOOKS_UNDER_A_CARD, False, 0, 0), (LOOKS_UNDER_A_CARD, True, 0, 1), (READY + "exit 1", False, 1, 0)],
    ids=["engine", "engine that may peek", "engine that crashes"],
)
async def test_engine_plays_for_a_bot(
    server: str, tmp_path: Path, text: str, peek: bool, code: int, undos: int
) -> None:
    said: list[str] = []
    told: list[str] = []
    async with (
        host_waiting(server, games=("klondike",), undo="free", end_when_settled=False) as mira,
        Engine([script(tmp_path, text)], said.append, trace=told.append, peek=peek) as engine,
        Link(parse_address(server), "bot", MemorySessions()) as link,
    ):
        rooms = RoomClient(link)
        await rooms.join("friday")
        engine_bot = Bot(rooms, "random", 1000, Random(1), stay=False, report=said.append, engine=engine)
        playing = asyncio.create_task(engine_bot.run())
        await until_room(mira, lambda room: any(seat.ready for seat in room.players))
        await mira.rooms.start()
        await until_room(mira, lambda room: any(seat.resigned for seat in room.players))
        await mira.rooms.resign()
        assert await playing == code
        assert mira.model.room is not None
        (result,) = (line for line in mira.model.room.standings if line.name == "bot")
        assert (result.undos, result.resigned) == (undos, True)
        if not code:
            assert any('; rivals 0 0 racing; options {"games":["klondike"],' in line for line in told)
            assert f"> result {result.place} 2" in told
    assert sum("code 1" in sentence for sentence in said) == 3 * code

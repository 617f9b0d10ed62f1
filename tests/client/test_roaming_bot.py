"""A bot that races in one open room after the other, on a real connection to a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Final

import pytest

from samedeal.options import Options
from samedeal.protocol.messages import (
    Done,
    Join,
    Leave,
    ListRooms,
    Notice,
    Ready,
    Refused,
    RoomLine,
    Rooms,
    Seat,
    ToServer,
)
from samedeal.protocol_codes import CloseCode, NoticeCode, RefusalCode
from samedeal_bots import bot
from samedeal_bots.bot import Bot
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.room_client import RoomClient
from tests.client.scripted_server import Peer, ScriptedServer, rate_limited
from tests.client.server_messages import room_state

HOST: Final = Seat(player="m", name="mira", seat=1)
BOT: Final = Seat(player="p1", name="bot", seat=2, bot=True)
OPTIONS: Final = Options(deal="#7")
KICKED: Final = Notice(code=NoticeCode.KICKED, message="The host has removed you")


def refused(request: ToServer, code: str) -> Refused:
    return Refused(to=request.id, code=code, message="No")


def line(room: str) -> RoomLine:
    seats = OPTIONS.players
    return RoomLine(room=room, game="willow", deal="#7", phase="open", players=1, seats=seats, spectators=True)


class House:
    """The server of a roaming bot, with the newest connection of the bot's link."""

    def __init__(self, server: ScriptedServer, peer: Peer) -> None:
        self._server = server
        self.peer = peer

    async def offer(self, *rooms: str) -> None:
        """Answer the bot's question for rooms that are open to bots."""
        asked = await self.peer.receive(ListRooms)
        assert (asked.open, asked.bots) == (True, True)
        await self.peer.send(Rooms(to=asked.id, rooms=tuple(line(room) for room in rooms)))

    async def seat(self, room: str) -> None:
        """Give the bot a seat. Its link moves to the home of the room."""
        assert (await self.peer.seat(room)).room == room
        before, self.peer = self.peer, await self._server.welcome()
        await self.peer.seat(room)
        await before.close(CloseCode.TAKEN_OVER)

    async def grant(self, request: ToServer) -> None:
        """Answer a request that the bot has sent."""
        await self.peer.send(Done(to=request.id))

    async def admit(self, room: str) -> Ready:
        """Give the bot a seat in a room in which mira waits, until the bot says that it is ready."""
        await self.offer(room)
        await self.seat(room)
        await self.peer.send(room_state(room, OPTIONS, (HOST, BOT)))
        return await self.peer.receive(Ready)


@pytest.fixture
def said() -> list[str]:
    """What the bot has said."""
    return []


@pytest.fixture
async def house(server: ScriptedServer, said: list[str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """The server of a roaming bot, which must still roam in the end."""
    monkeypatch.setattr(bot, "LOOK_INTERVAL", 0.01)

    async def roam() -> int:
        async with Link(server.address, "bot", MemorySessions(), rng=Random(1), bot=True) as link:
            return await Bot(RoomClient(link), "random", 60, Random(1), False, said.append, roams=True).run()

    roaming = asyncio.create_task(roam())
    yield House(server, await server.welcome())
    roaming.cancel()
    (outcome,) = await asyncio.gather(roaming, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["notice first", "refusal first"])
async def test_bot_that_is_kicked_before_it_is_ready_goes_on(
    house: House, said: list[str], order: tuple[int, int]
) -> None:
    ready = await house.admit("rude")
    both = KICKED, refused(ready, RefusalCode.NO_SEAT)
    await house.peer.send(*(both[each] for each in order))
    await house.admit("friday")
    assert said == ["in room rude", f"Server: {KICKED.message}", "in room friday"]


async def test_bot_that_is_kicked_before_it_sees_the_room_goes_on(house: House) -> None:
    await house.offer("rude")
    await house.seat("rude")
    await house.peer.send(KICKED)
    await house.admit("friday")


async def test_bot_that_is_kicked_while_its_link_moves_goes_on(server: ScriptedServer, house: House) -> None:
    await house.offer("rude")
    await house.peer.seat("rude")
    house.peer = await server.welcome()
    await house.peer.send(refused(await house.peer.receive(Join), RefusalCode.KICKED))
    await house.admit("friday")


async def test_bot_whose_request_fails_leaves_and_goes_on(house: House, said: list[str]) -> None:
    ready = await house.admit("broken")
    await house.peer.send(refused(ready, RefusalCode.FAULT))
    await house.grant(await house.peer.receive(Leave))
    await house.admit("friday")
    assert said == ["in room broken", "Server: No", "in room friday"]


@pytest.mark.parametrize("code", [RefusalCode.KICKED, RefusalCode.ROOM_FULL, RefusalCode.NO_ROOM])
async def test_bot_that_may_not_join_tries_the_next_room(house: House, code: RefusalCode) -> None:
    await house.offer("rude", "friday")
    await house.peer.send(refused(await house.peer.receive(Join), code))
    await house.seat("friday")


@pytest.mark.parametrize("wait", [0.01, 60.0], ids=["in time for the link", "late"])
async def test_bot_that_asks_too_often_asks_again(house: House, wait: float) -> None:
    await house.peer.send(rate_limited(await house.peer.receive(ListRooms), wait))
    await house.admit("friday")


async def test_bot_looks_again_once_the_store_is_back(house: House) -> None:
    await house.peer.send(refused(await house.peer.receive(ListRooms), RefusalCode.UNAVAILABLE))
    await house.admit("friday")


@pytest.mark.parametrize("joins", [False, True], ids=["while it looks", "while it joins"])
async def test_bot_whose_connection_is_lost_goes_on(server: ScriptedServer, house: House, joins: bool) -> None:
    await (house.offer("friday") if joins else house.offer())
    await house.peer.receive(Join if joins else ListRooms)
    await house.peer.abort()
    house.peer = await server.welcome()
    await (house.seat("friday") if joins else house.admit("friday"))


async def test_bot_whose_room_is_gone_after_a_restart_goes_on(server: ScriptedServer, house: House) -> None:
    await house.admit("lunch")
    await house.peer.close(CloseCode.RESTART)
    house.peer = await server.welcome()
    await house.peer.send(refused(await house.peer.receive(Join), RefusalCode.NO_ROOM))
    await house.grant(await house.peer.receive(Ready))
    await house.admit("friday")


async def test_bot_that_is_left_alone_goes_on(house: House) -> None:
    await house.grant(await house.admit("left"))
    await house.peer.send(room_state("left", OPTIONS, (BOT,)))
    await house.grant(await house.peer.receive(Leave))
    await house.admit("friday")


async def test_bot_leaves_a_closed_room_and_goes_on(house: House) -> None:
    await house.grant(await house.admit("lunch"))
    await house.peer.send(room_state("lunch", OPTIONS, (HOST, BOT), phase="closed"))
    await house.grant(await house.peer.receive(Leave))
    await house.admit("friday")

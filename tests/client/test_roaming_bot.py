"""A bot that races in one open room after the other, on a real connection to a scripted server."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, Final

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
from samedeal.protocol_codes import CloseCode, NoticeCode
from samedeal_bots import bot
from samedeal_bots.bot import Bot
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.room_client import RoomClient
from tests.client.scripted_server import Peer, ScriptedServer
from tests.client.server_messages import room_state
from tests.golden.golden_files import assert_answered

HOST: Final = Seat(player="m", name="mira", seat=1)
BOT: Final = Seat(player="p1", name="bot", seat=2, bot=True)
OPTIONS: Final = Options(deal="#7")
KINDS: Final[dict[str, Any]] = {"join": Join, "list": ListRooms, "leave": Leave, "ready": Ready}
KICKED: Final = Notice(code=NoticeCode.KICKED, message="The host has removed you")


def line(room: str) -> RoomLine:
    seats = OPTIONS.players
    return RoomLine(room=room, game="willow", deal="#7", phase="open", players=1, seats=seats, spectators=True)


class House:
    """The server of a roaming bot, with the newest connection of the bot's link."""

    def __init__(self, server: ScriptedServer, peer: Peer) -> None:
        self._server = server
        self.peer = peer
        self.asked: ToServer

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

    async def admit(self, room: str) -> None:
        """Give the bot a seat in a room in which mira waits, until the bot says that it is ready."""
        await self.offer(room)
        await self.seat(room)
        await self.show(room)

    async def show(self, room: str) -> None:
        """Show the bot its room, until it says that it is ready."""
        await self.peer.send(room_state(room, OPTIONS, (HOST, BOT)))
        self.asked = await self.peer.receive(Ready)

    async def does(self, words: list[str]) -> None:
        """Do what words of the page say. Answers are to the newest request that was heard."""
        match words:
            case ["offer" | "seat" | "show" | "admit" as what, *rooms]:
                await getattr(self, what)(*rooms)
            case ["move", room]:
                await self.peer.seat(room)
                self.peer = await self._server.welcome()
            case ["hear", kind]:
                self.asked = await self.peer.receive(KINDS[kind])
            case ["grant"]:
                await self.peer.send(Done(to=self.asked.id))
            case ["refuse", code, *wait]:
                await self.peer.send(Refused(self.asked.id, code=code, message="No", retry_after=float(*wait)))
            case ["kick"]:
                await self.peer.send(KICKED)
            case ["alone", room]:
                await self.peer.send(room_state(room, OPTIONS, (BOT,)))
            case ["close", room]:
                await self.peer.send(room_state(room, OPTIONS, (HOST, BOT), phase="closed"))
            case ["cut" | "restart" as what]:
                await (self.peer.abort() if what == "cut" else self.peer.close(CloseCode.RESTART))
                self.peer = await self._server.welcome()
            case _:
                raise AssertionError(words)


async def roamed(_: str, question: str) -> str:
    """What a roaming bot says while its server does something. It must still roam in the end."""
    said: list[str] = []
    server = ScriptedServer()

    async def roam() -> int:
        async with Link(server.address, "bot", MemorySessions(), rng=Random(1), bot=True) as link:
            return await Bot(RoomClient(link), "random", 60, Random(1), False, said.append, roams=True).run()

    async with server.listening():
        roaming = asyncio.create_task(roam())
        house = House(server, await server.welcome())
        for step in question.split(", "):
            await house.does(step.split())
        roaming.cancel()
        (outcome,) = await asyncio.gather(roaming, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)
    return "; ".join(said)


async def test_bots_roam_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot, "LOOK_INTERVAL", 0.01)
    await assert_answered("roaming", roamed)

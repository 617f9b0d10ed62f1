"""The real clients in the process of the test, in a race on a ``Liar``, and what they say about it."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from samedeal.errors import RequestRefused
from samedeal.verdict_rows import ROWS
from samedeal_bots.bot import Bot
from samedeal_client.line_by_line.line_client import LineClient
from samedeal_client.terminal_io.line_io import LineReader, Printer
from samedeal_client.text.appearance import Look
from samedeal_link.connection.address import home_path, parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions, SessionStore
from samedeal_link.evidence.verdict import Verdict
from samedeal_link.session.client_session import ClientSession
from samedeal_link.session.room_client import RoomClient
from tests.end_to_end.lying_server import Liar
from tests.end_to_end.processes import until
from tests.end_to_end.watched_races import ROOM


class TypedLines(LineReader):
    """Lines that the test types while the client runs."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def read_line(self) -> str | None:
        return await self.lines.get()

    def type(self, *lines: str) -> None:
        for line in lines:
            self.lines.put_nowait(line)


@dataclass
class Client:
    """A client that races. ``code`` is its exit code. ``rooms`` is None until it is connected. ``out`` is what it says."""

    name: str
    home: Path
    rooms: RoomClient | None = None
    task: asyncio.Task[None] | None = None
    out: io.StringIO = field(default_factory=io.StringIO)
    code: int | None = None
    verdict: Verdict | None = None
    sessions: SessionStore = field(default_factory=MemorySessions)

    @property
    def is_over(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def phase(self) -> str:
        room = self.rooms.model.room if self.rooms is not None else None
        return room.phase if room is not None else ""

    @property
    def found(self) -> set[str]:
        """The rows of the table of verdicts that the client has found."""
        evidence = self.rooms.link.evidence if self.rooms is not None else None
        return {*(evidence.found if evidence else ()), *(self.verdict.rows if self.verdict else ())}

    @property
    def moves(self) -> int:
        play = self.rooms.model.own.play if self.rooms is not None else None
        return play.revision if play is not None else 0

    @property
    def text(self) -> str:
        return self.out.getvalue()

    def tells(self, row: str) -> bool:
        """Whether the client has said what a row of the table of verdicts says."""
        return ROWS[row].sentence.split("{")[0] in self.text

    async def play(self, server: Liar) -> None:
        raise NotImplementedError

    async def enter(self, server: Liar) -> None:
        """Start the client, and wait until it is in the room."""
        self.rooms = None
        self.task = asyncio.create_task(self.play(server), name=f"{self.name} in {ROOM}")
        await until(lambda: self.is_over or self.phase != "")

    async def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)

    def link(self, server: Liar, **options: Any) -> Link:
        """Return a link to the server's room."""
        return Link(parse_address(server.url), self.name, self.sessions, home=home_path(ROOM), **options)


async def rivals_moved(rooms: RoomClient) -> None:
    """Wait until a rival has made two moves."""
    await until(
        lambda: any(tally.moves > 1 for player, tally in rooms.model.tallies.items() if player != rooms.model.me)
    )


class LinePlayer(Client):
    """The line client with typed lines. It makes two moves, and turns up cards, and resigns."""

    session: ClientSession
    typed: TypedLines

    async def play(self, server: Liar) -> None:
        self.typed = TypedLines()
        async with self.link(server, evidence_root=self.home / "evidence") as link:
            self.session = ClientSession(link)
            self.rooms = self.session.rooms
            printer = Printer(self.out, colour=False)
            client = LineClient(self.session, Look(), printer, str, lasting=True, ends_with_race=True)
            typing = asyncio.create_task(self._type_lines(server))
            try:
                self.code = await client.run(self.typed, lambda: self.session.join(ROOM))
            finally:
                typing.cancel()
                (failure,) = await asyncio.gather(typing, return_exceptions=True)
                self.verdict = self.session.model.verdict
            if isinstance(failure, AssertionError | TimeoutError):
                raise failure

    async def _type_lines(self, server: Liar) -> None:
        await until(lambda: self.phase != "")
        if self.phase == "open":
            self.typed.type("ready")
        await until(lambda: self.phase == "racing" and self.session.model.board is not None)
        for _ in range(2):
            board = self.session.model.board
            assert board is not None
            moves = (str(move) for move in board.legal_moves() if move.is_transfer and not board.is_null(move))
            await self._make_move(next(moves, "deal"))
        await self._make_move("deal")
        await rivals_moved(self.session.rooms)
        self.typed.type("resign")

    async def _make_move(self, text: str) -> None:
        before = self.session.model.own
        self.typed.type(text)
        await until(lambda: (own := self.session.model.own) is not before and not own.pending)


class BotPlayer(Client):
    """The bot, as ``samedeal bot`` runs it."""

    async def play(self, server: Liar) -> None:
        async with self.link(server, bot=True) as link:
            self.rooms = RoomClient(link)
            await self.rooms.join(ROOM)
            bot = Bot(self.rooms, "random", 1000, Random(3), stay=False, report=self._say)
            self.code = await bot.run()
            if self.code:
                with contextlib.suppress(RequestRefused):
                    await self.rooms.leave()

    def _say(self, sentence: str) -> None:
        self.out.write(f"{sentence}\n")


@contextlib.asynccontextmanager
async def playing(server: Liar, *clients: Client) -> AsyncIterator[None]:
    """Let clients join a server's room, one after another. At the end they are stopped."""
    async with server.running():
        try:
            for client in clients:
                await client.enter(server)
            yield
        finally:
            await asyncio.gather(*(client.stop() for client in clients))

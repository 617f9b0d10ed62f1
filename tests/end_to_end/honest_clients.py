"""The real clients in the process of the test, in a race on a ``HonestServer``, and what they say about it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
from argparse import Namespace
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from samedeal.errors import RequestRefused
from samedeal.protocol.messages import Ping
from samedeal_bots.bot import Bot
from samedeal_client.commands import verify
from samedeal_client.line_by_line.line_client import LineClient
from samedeal_client.terminal_io.line_io import LineReader, Printer
from samedeal_client.text.appearance import Look
from samedeal_link.connection.address import home_path, parse_address
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions, SessionStore
from samedeal_link.errors import Failure
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import Verdict
from samedeal_link.session.client_session import ClientSession
from samedeal_link.session.room_client import RoomClient
from tests.end_to_end.lying_server import DEADLINE, HonestServer
from tests.shared.joint_deals import some_bytes


async def until(condition: Callable[[], bool]) -> None:
    """Poll a condition on a client, whose events have other readers."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 (there is no event to wait for)
            await asyncio.sleep(0.005)


class TypedLines(LineReader):
    """Lines that the test types while the client runs."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def read_line(self) -> str | None:
        return await self.lines.get()


@dataclass
class Report:
    """What a client has said and found. ``code`` is its exit code."""

    text: str = ""
    code: int | None = None
    evidence: Evidence = field(default_factory=Evidence)
    verdict: Verdict | None = None
    words: str = ""

    @property
    def rows(self) -> set[str]:
        """The rows of the table of verdicts that the client has found."""
        return {*self.evidence.found, *(self.verdict.rows if self.verdict is not None else ())}

    @property
    def kind(self) -> str:
        """The kind of the verdict, or an empty text without one."""
        return self.verdict.kind if self.verdict is not None else ""


@dataclass
class Client:
    """A client that is racing. ``rooms`` is None until it is connected."""

    name: str
    home: Path
    rooms: RoomClient | None = None
    report: Report = field(default_factory=Report)
    task: asyncio.Task[None] | None = None
    starts: int = 0
    sessions: SessionStore = field(default_factory=MemorySessions)

    @property
    def is_over(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def phase(self) -> str:
        room = self.rooms.model.room if self.rooms is not None else None
        return room.phase if room is not None else ""

    async def play(self, server: HonestServer) -> None:
        raise NotImplementedError

    def result(self) -> None:
        """Raise the error with which the client has ended, if any."""
        assert self.task is not None
        self.task.result()

    async def enter(self, server: HonestServer) -> None:
        """Start the client, and wait until it is in the room."""
        await asyncio.to_thread(self.home.mkdir, parents=True, exist_ok=True)
        self.task = asyncio.create_task(self.play(server), name=f"{self.name} in {server.room}")
        await until(lambda: self.is_over or self.phase != "")

    def link(self, server: HonestServer, **options: Any) -> Link:
        """Return a link to the server's room. Its shares are not random: the deals of the test are the same in each run."""
        address, home = parse_address(server.url), home_path(server.room)
        link = Link(address, self.name, self.sessions, rng=Random(1), home=home, **options)
        self.starts += 1
        numbers = count()
        link.witness._new_share = lambda: some_bytes(f"{server.room} {self.name} {self.starts} {next(numbers)}")
        return link

    def note(self) -> None:
        """Take down what the client knows now."""
        if self.rooms is not None:
            self.report.evidence = self.rooms.link.evidence or self.report.evidence
            self.report.words = self.rooms.model.deal_words or self.report.words

    async def settled(self, event: int) -> None:
        """Wait until the client has handled the room's event, and the server has its answer."""
        rooms = self.rooms
        if rooms is None:
            return
        await until(lambda: self.is_over or rooms.model.room is None or rooms.model.room.event >= event)
        if not self.is_over:
            with contextlib.suppress(RequestRefused):
                await rooms.link.request(Ping(id=0))
        self.note()


class LinePlayer(Client):
    """The line client with typed lines. It makes two moves, and turns up cards, and resigns."""

    session: ClientSession
    typed: TypedLines
    moves = 2

    async def play(self, server: HonestServer) -> None:
        out, self.typed = io.StringIO(), TypedLines()
        async with self.link(server, evidence_root=self.home / "state" / "samedeal" / "evidence") as link:
            self.session = ClientSession(link)
            self.rooms = self.session.rooms
            client = LineClient(
                self.session, Look(), Printer(out, colour=False), str, lasting=True, ends_with_race=True
            )
            typing = asyncio.create_task(self.type_lines(server))
            try:
                self.report.code = await client.run(self.typed, lambda: self.session.join(server.room))
            finally:
                typing.cancel()
                (failure,) = await asyncio.gather(typing, return_exceptions=True)
                self.note()
                self.report.text += out.getvalue()
                self.report.verdict = self.session.model.verdict
            if isinstance(failure, AssertionError | TimeoutError):
                raise failure

    async def restart(self, server: HonestServer) -> None:
        """Kill the client, and start it again on the same machine."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        self.rooms = None
        await self.enter(server)

    def type(self, *lines: str) -> None:
        for line in lines:
            self.typed.lines.put_nowait(line)

    async def type_lines(self, server: HonestServer) -> None:
        await until(lambda: self.phase != "")
        if self.phase == "open":
            self.type("ready")
        await until(lambda: self.phase == "racing" and self.session.model.board is not None)
        self.note()
        for _ in range(self.moves):
            await self.make_move(self.next_move())
        await self.make_move("deal")
        await until(lambda: all(len(each.log) > 1 for each in server.racers if each.bot and not each.resigned))
        self.type("resign")

    def next_move(self) -> str:
        board = self.session.model.board
        assert board is not None
        moves = (str(move) for move in board.legal_moves() if move.is_transfer and not board.is_null(move))
        return next(moves, "deal")

    async def make_move(self, text: str) -> None:
        own = self.session.model.own
        assert own.play is not None
        revision = own.play.revision
        self.type(text)
        await until(lambda: (play := self.session.model.own.play) is not None and play.revision > revision)


class BotPlayer(Client):
    """The bot, as ``samedeal bot`` runs it."""

    async def play(self, server: HonestServer) -> None:
        async with self.link(server, bot=True) as link:
            self.rooms = RoomClient(link)
            await self.rooms.join(server.room)
            bot = Bot(self.rooms, "random", 1000, Random(3), stay=False, report=self._said)
            self.report.code = await bot.run()
            self.note()
            if self.report.code:
                with contextlib.suppress(RequestRefused):
                    await self.rooms.leave()

    def _said(self, sentence: str) -> None:
        self.report.text += f"{sentence}\n"


@dataclass
class Verified:
    """The result of ``samedeal verify`` on a record."""

    code: int
    text: str


def verified(record: str, home: Path, *, deep: bool) -> Verified:
    """Run ``samedeal verify`` with the evidence of a home."""
    path = home / "record.txt"
    path.write_text(record, encoding="utf-8")
    out = io.StringIO()
    try:
        with patch.dict(os.environ, XDG_STATE_HOME=str(home / "state")), contextlib.redirect_stdout(out):
            code = verify.run(Namespace(games="", file=str(path), deep=deep))
    except Failure as failure:
        return Verified(failure.code, str(failure))
    return Verified(code, out.getvalue())


@contextlib.asynccontextmanager
async def playing(server: HonestServer, *clients: Client) -> AsyncIterator[None]:
    """Let clients join a server's room, one after another. At the end they are stopped."""

    async def settle() -> None:
        await asyncio.gather(*(client.settled(server.event) for client in clients))

    server.settle = settle
    async with server.running():
        for client in clients:
            await client.enter(server)
        try:
            yield
        finally:
            for client in clients:
                if client.task is not None:
                    client.task.cancel()
            await asyncio.gather(*(client.task for client in clients if client.task), return_exceptions=True)

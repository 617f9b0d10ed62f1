"""A client for tests: it asks, waits for what it expects with a deadline, and keeps every frame that it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, Final, Self, TypeVar, cast

from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.board import Board
from samedeal.games import Game
from samedeal.options import WantedOptions
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    BoardState,
    Create,
    Created,
    Hello,
    Join,
    Joined,
    RoomState,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol.messages import Refused as Refusal

DEADLINE: Final = 10.0
"""Seconds after which what has not come does not come."""

_Kind = TypeVar("_Kind")
_Ask = Callable[..., ToServer]


class Client:
    """One connection. ``frames`` are all that came over it, ``inbox`` the messages that no test has taken yet."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[bytes | str] = []
        self.inbox: list[ToClient] = []
        self.session = ""
        self.player = ""
        self.room = ""
        self.play: Play | None = None
        self.undo = Undo.NO_REVEAL
        self._id = 0
        self._came = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, url: str, protocol: str | None = SUBPROTOCOL, **options: Any) -> Self:
        """A connection on which nothing has been said."""
        offered = [Subprotocol(protocol)] if protocol else None
        return cls(await connect(url, subprotocols=offered, compression=None, **options))

    @classmethod
    async def hello(cls, url: str, name: str = "ana", session: str = "") -> Self:
        """A connection of a player."""
        client = await cls.connect(url)
        welcome = await client.want(Welcome, Hello, name=name, session=session)
        client.session, client.player = welcome.session, welcome.player
        return client

    async def _read(self) -> None:
        try:
            async for frame in self.socket:
                self.frames.append(frame)
                message = decode_to_client(frame)
                self.inbox.append(message)
                if isinstance(message, BoardState):
                    board = Board(Game.named(message.game), message.piles)
                    self.play = Play(
                        board, self.undo, revision=message.revision, moves=message.moves, undos=message.undos
                    )
                self._came.set()
        except ConnectionClosed:
            pass
        finally:
            self._came.set()

    async def close(self) -> None:
        """Go, as a client does that is closed."""
        await self.socket.close()
        await self._reader

    async def cut(self) -> None:
        """Go without a word, as a client does whose network is gone."""
        self.socket.transport.abort()
        await self._reader

    # ---------------------------------------------------------------- saying and hearing

    async def send(self, kind: _Ask, **fields: Any) -> int:
        """Send a request; returns its id."""
        self._id += 1
        await self.socket.send(encode(kind(id=fields.pop("id", self._id), **fields)))
        return self._id

    async def until(self, kind: type[_Kind], where: Callable[[_Kind], object] = lambda _: True) -> _Kind:
        """The first message of a kind for which something holds, whether it has come already or is still to come."""
        async with asyncio.timeout(DEADLINE):
            while True:
                self._came.clear()
                for at, message in enumerate(self.inbox):
                    if isinstance(message, kind) and where(message):
                        del self.inbox[at]
                        return message
                if self._reader.done():
                    raise AssertionError(f"closed with {self.socket.close_code} before any such {kind.__name__} came")
                await self._came.wait()

    async def ask(self, kind: _Ask, **fields: Any) -> ToClient:
        """Send a request and return its answer."""
        number = fields.get("id", self._id + 1)
        await self.send(kind, **fields)
        return await self.answer(number)

    async def answer(self, number: int) -> ToClient:
        """The answer to a request."""
        return cast("ToClient", await self.until(Struct, lambda message: getattr(message, "to", None) == number))

    async def want(self, answer: type[_Kind], kind: _Ask, **fields: Any) -> _Kind:
        """Send a request that is answered as it should be."""
        got = await self.ask(kind, **fields)
        assert isinstance(got, answer), got
        return got

    async def refused(self, code: str, kind: _Ask, **fields: Any) -> Refusal:
        """Send a request that is refused, with a sentence."""
        got = await self.ask(kind, **fields)
        assert isinstance(got, Refusal), got
        assert got.code == code, got
        assert len(got.message) > 10, got
        assert "Traceback" not in got.message
        return got

    async def closed(self) -> int:
        """Wait until the server closes the connection; returns the close code."""
        async with asyncio.timeout(DEADLINE):
            await self.socket.wait_closed()
            await self._reader
        return self.socket.close_code or 0

    # ---------------------------------------------------------------- racing

    async def create(self, room: str = "", passphrase: str = "", **options: Any) -> str:
        """Open a room; returns its code."""
        options = {"countdown": 0, **options}
        return (
            await self.want(Created, Create, room=room, passphrase=passphrase, options=WantedOptions(**options))
        ).room

    async def join(self, room: str, **fields: Any) -> Joined:
        """Take a seat."""
        joined = await self.want(Joined, Join, room=room, **fields)
        self.room = joined.room
        return joined

    async def watch(self, room: str, **fields: Any) -> Watching:
        """Watch a room."""
        return await self.want(Watching, Watch, room=room, **fields)

    async def state(self, where: Callable[[RoomState], object] = lambda _: True) -> RoomState:
        """The next state of the room for which something holds."""
        return await self.until(RoomState, where)

    async def phase(self, phase: str) -> RoomState:
        """The room's state once its race is in a phase."""
        return await self.state(lambda state: state.phase == phase)

    async def dealt(self) -> Play:
        """The play, once the board is there."""
        await self.until(BoardState)
        assert self.play is not None
        return self.play

    async def act(self, action: str, **fields: Any) -> Acked:
        """Take an action; the ack must agree with the engine on this side."""
        assert self.play is not None
        acked = await self.want(Acked, Act, **{"revision": self.play.revision, "action": action, **fields})
        self.apply(action, acked)
        return acked

    def apply(self, action: str, acked: Acked) -> None:
        """Do on this side what was acked, and compare."""
        assert self.play is not None
        if action == UNDO:
            board = Board(self.play.board.game, acked.piles)
            past = self.play.past.before if self.play.past else None
            self.play = Play(board, self.undo, past, acked.revision, acked.moves, acked.undos, acked.seen)
        else:
            self.play = self.play.act(action, faces=acked.seen or None)
        board = self.play.board
        assert (self.play.revision, board.state_hash(), board.cards_up) == (acked.revision, acked.hash, acked.up)
        assert (self.play.moves, self.play.undos, board.stuck) == (acked.moves, acked.undos, acked.stuck)

    async def acts(self, count: int, seed: int = 1) -> list[Acked]:
        """Take so many legal moves, chosen by a seed."""
        rng = Random(seed)
        acked = []
        for _ in range(count):
            assert self.play is not None
            acked.append(await self.act(str(rng.choice(self.play.board.legal_moves()))))
        return acked

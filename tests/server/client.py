"""Connections for tests, which wait for messages with a timeout, and record all frames."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, ClassVar, Final, Self, TypeVar

from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.games import game_named
from samedeal.joint_deal import share_commitment
from samedeal.options import WantedOptions
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    BoardState,
    CommitShare,
    Create,
    Created,
    Done,
    Hello,
    Join,
    Joined,
    RevealShare,
    RoomState,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol.messages import Refused as Refusal
from samedeal.terms import RoomTerms

DEADLINE: Final = 30.0
"""Timeout, in seconds, for a message."""

_Kind = TypeVar("_Kind")


class Connection:
    """A connection that speaks one of the protocols: ``PROTOCOL``, whose messages ``decode`` reads.

    ``frames`` holds every received frame, ``inbox`` the messages that the test has not read yet. ``last_id`` is the id of
    the newest request.
    """

    PROTOCOL: ClassVar[str]

    @staticmethod
    def decode(frame: bytes | str) -> Struct:
        """Read a message from the server."""
        raise NotImplementedError

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[bytes | str] = []
        self.inbox: list[Struct] = []
        self.last_id = 0
        self._received = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, url: str, protocols: Sequence[str] | None = None, **options: Any) -> Self:
        """Open a connection without a request. ``protocols`` are offered instead of ``PROTOCOL``."""
        offered = list(map(Subprotocol, (cls.PROTOCOL,) if protocols is None else protocols))
        return cls(await connect(url, subprotocols=offered or None, compression=None, **options))

    async def _read(self) -> None:
        try:
            async for frame in self.socket:
                self.frames.append(frame)
                message = self.decode(frame)
                self.inbox.append(message)
                self.note(message)
                self._received.set()
        except ConnectionClosed:
            pass
        finally:
            self._received.set()

    def note(self, message: Struct) -> None:
        """Know what a message tells, before the test reads it."""

    def stop_reading(self) -> None:
        """Read nothing more, so that the buffers between the server and this client fill up."""
        self._reader.cancel()

    async def close(self) -> None:
        """Close the connection with a WebSocket close frame."""
        await self.socket.close()
        await self._reader

    async def abort(self) -> None:
        """Abort the connection, as if the network failed."""
        self.socket.transport.abort()
        await self._reader

    async def send(self, kind: Callable[..., Any], **fields: Any) -> int:
        """Send a request. Return its id."""
        self.last_id += 1
        await self.socket.send(encode(kind(id=fields.pop("id", self.last_id), **fields)))
        return self.last_id

    async def until(self, kind: type[_Kind], where: Callable[[_Kind], object] = lambda _: True) -> _Kind:
        """The first message of a kind that meets a condition, received already or later."""
        async with asyncio.timeout(DEADLINE):
            while True:
                self._received.clear()
                for at, message in enumerate(self.inbox):
                    if isinstance(message, kind) and where(message):
                        del self.inbox[at]
                        return message
                if self._reader.done():
                    raise ConnectionError(f"closed with {self.socket.close_code} before such a {kind.__name__}")
                await self._received.wait()

    async def ask(self, kind: Callable[..., Any], **fields: Any) -> Any:
        """Send a request and return its answer."""
        number = fields.get("id", self.last_id + 1)
        await self.send(kind, **fields)
        return await self.answer(number)

    async def answer(self, number: int) -> Any:
        """The answer to a request."""
        return await self.until(Struct, lambda message: getattr(message, "to", None) == number)

    async def expect(self, answer: type[_Kind], kind: Callable[..., Any], **fields: Any) -> _Kind:
        """Send a request and assert the type of its answer."""
        got = await self.ask(kind, **fields)
        assert isinstance(got, answer), got
        return got

    async def refused(self, code: str, kind: Callable[..., Any], **fields: Any) -> Refusal:
        """Send a request and assert the code of its refusal."""
        got = await self.expect(Refusal, kind, **fields)
        assert got.code == code, got
        assert len(got.message) > 10, got
        assert "Traceback" not in got.message
        return got

    async def closed(self) -> int:
        """Wait until the server closes the connection. Return the close code."""
        async with asyncio.timeout(DEADLINE):
            await self.socket.wait_closed()
            await self._reader
        return self.socket.close_code or 0


class Client(Connection):
    """A player's connection."""

    PROTOCOL = SUBPROTOCOL
    decode = staticmethod(decode_to_client)

    def __init__(self, socket: ClientConnection) -> None:
        super().__init__(socket)
        self.name = ""
        self.session = ""
        self.player = ""
        self.room = ""
        self._play: Play | None = None
        self.undo = Undo.NO_REVEAL
        self.shown: RoomState | None = None

    @classmethod
    async def hello(cls, url: str, name: str = "ana", session: str = "", *, bot: bool = False, **options: Any) -> Self:
        """Open a connection and send Hello."""
        client = await cls.connect(url, **options)
        welcome = await client.expect(Welcome, Hello, name=name, session=session, bot=bot)
        client.name, client.session, client.player = welcome.name, welcome.session, welcome.player
        return client

    @property
    def play(self) -> Play:
        """The play since the board was dealt."""
        assert self._play is not None, "no board was dealt"
        return self._play

    @play.setter
    def play(self, play: Play) -> None:
        self._play = play

    @property
    def revision(self) -> int:
        """The revision of the board, or -1 before it is dealt."""
        return -1 if self._play is None else self._play.revision

    def continue_with(self, old: Client) -> None:
        """Know the board that another connection of the player had."""
        self._play, self.undo, self.room, self.shown = old._play, old.undo, old.room, old.shown

    def note(self, message: Struct) -> None:
        if isinstance(message, RoomState):
            self.shown = message
        elif isinstance(message, BoardState):
            board = Board(game_named(message.game), message.piles)
            self.play = Play(board, self.undo, revision=message.revision, moves=message.moves, undos=message.undos)

    async def create(self, room: str = "", passphrase: str = "", **options: Any) -> str:
        """Open a room. Return its code."""
        options = {"countdown": 0, **options}
        return (
            await self.expect(Created, Create, room=room, passphrase=passphrase, options=WantedOptions(**options))
        ).room

    async def join(self, room: str, **fields: Any) -> Joined:
        """Take a seat."""
        joined = await self.expect(Joined, Join, room=room, **fields)
        self.room = joined.room
        return joined

    def share(self, draw: int = 1) -> bytes:
        """The player's share for a draw of a joint deal. It follows from the name and the number."""
        return hashlib.sha256(f"{self.name} {draw}".encode()).digest()

    def commitment(self, draw: int = 1) -> bytes:
        """The hash of the player's share for a draw."""
        assert self.shown is not None, "no state of the room was seen"
        terms = RoomTerms.parse(self.shown.terms).digest
        (own,) = (seat for seat in self.shown.players if seat.player == self.player)
        return share_commitment(terms, self.shown.commitment, own.seat, own.name, draw, self.share(draw))

    async def commit(self, draw: int = 1) -> None:
        """Commit the player to the share for a draw."""
        await self.expect(Done, CommitShare, draw=draw, commitment=self.commitment(draw))

    async def reveal(self, draw: int = 1) -> None:
        """Reveal the share for a draw."""
        await self.expect(Done, RevealShare, draw=draw, share=self.share(draw))

    async def take_part(self, draw: int = 1) -> None:
        """Commit the player to the share for a draw, and reveal it once the draw is sealed."""
        await self.commit(draw)
        await self.sealed(draw)
        await self.reveal(draw)

    async def take_part_alone(self, draw: int = 1) -> None:
        """Commit the player to the share for a draw, and reveal it at once, because nobody else draws."""
        await self.commit(draw)
        await self.reveal(draw)

    async def sealed(self, draw: int = 1) -> RoomState:
        """The state of the room once a draw is sealed."""
        return await self.state(
            lambda state: state.draw == draw and all(seat.share_commitment for seat in state.players)
        )

    async def watch(self, room: str, **fields: Any) -> Watching:
        """Watch a room."""
        return await self.expect(Watching, Watch, room=room, **fields)

    async def state(self, where: Callable[[RoomState], object] = lambda _: True) -> RoomState:
        """The next state of the room that meets a condition."""
        return await self.until(RoomState, where)

    async def phase(self, phase: str) -> RoomState:
        """The state of the room once its race is in a phase."""
        return await self.state(lambda state: state.phase == phase)

    async def dealt(self) -> Play:
        """The play, once the board has been dealt."""
        await self.until(BoardState)
        return self.play

    async def act(self, action: str, **fields: Any) -> Acked:
        """Make an action and assert that the ack agrees with the local rules."""
        acked = await self.expect(Acked, Act, **{"revision": self.play.revision, "action": action, **fields})
        self.apply(action, acked)
        return acked

    def apply(self, action: str, acked: Acked) -> None:
        """Apply an acked action locally, and compare."""
        self.follow(action, acked)
        assert self.play.board.state_hash() == acked.hash

    def follow(self, action: str, acked: Acked) -> None:
        """Apply an acked action locally."""
        if action == UNDO:
            board = Board(self.play.board.game, acked.piles)
            past = self.play.past.before if self.play.past else None
            self.play = Play(board, self.undo, past, self.play.revision + 1, self.play.moves, self.play.undos + 1)
        else:
            self.play = self.play.act(action, faces=acked.seen or None)

    async def acts(self, count: int, seed: int = 1) -> list[Acked]:
        """Make ``count`` legal moves, chosen at random by ``seed``, or undo where there is none. Return their acks."""
        rng = Random(seed)
        return [await self.act(str(rng.choice(self.play.board.legal_moves() or [UNDO]))) for _ in range(count)]

"""A server whose side of each connection is played by the test, and a link that records its events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    BoardState,
    Hello,
    Join,
    Joined,
    Ping,
    Pong,
    Refused,
    ToClient,
    ToServer,
    Welcome,
)
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.address import ServerAddress, parse_address
from samedeal_link.connection.link_events import Connected, LinkEvent
from samedeal_link.connection.liveness import LinkTimeouts
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions

DEADLINE = 30.0
Request = TypeVar("Request", bound=ToServer)
Event = TypeVar("Event", bound=LinkEvent)


class Peer:
    """One connection, seen from the server."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    @property
    def path(self) -> str:
        """The path at which the link has connected."""
        assert self.socket.request is not None
        return self.socket.request.path

    async def receive(self, kind: type[Request]) -> Request:
        """Return the next message, which must be of a kind. Pings before it are answered."""
        async with asyncio.timeout(DEADLINE):
            while True:
                message = decode_to_server(await self.socket.recv())
                if isinstance(message, kind):
                    return message
                assert isinstance(message, Ping), f"{message} instead of {kind.__name__}"
                await self.send(Pong(to=message.id, time=5_000))

    async def send(self, *messages: ToClient) -> None:
        for message in messages:
            await self.socket.send(encode(message))

    async def welcome(self, session: str = "s1", **more: Any) -> Hello:
        hello = await self.receive(Hello)
        fields = {"session": session, "player": "p1", "name": hello.name, "time": 5_000, "server": "test", **more}
        await self.send(Welcome(to=hello.id, **fields))
        return hello

    async def seat(self, room: str = "k7", revision: int = -1, generation: int = 1, path: str = "") -> Join:
        join = await self.receive(Join)
        await self.send(Joined(to=join.id, room=room, seat=1, generation=generation, revision=revision, path=path))
        return join

    async def abort(self) -> None:
        """Disconnect without a close frame."""
        self.socket.transport.abort()
        await self.socket.wait_closed()

    async def close(self, code: int, reason: str = "") -> None:
        await self.socket.close(code, reason)


class ScriptedServer:
    """A server whose connections wait for the test.

    ``count`` is the number of connections so far. Connections at the paths in ``full`` are rejected.
    """

    def __init__(self) -> None:
        self.address = ServerAddress("ws://127.0.0.1")
        self.count = 0
        self.full: set[str] = set()
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()

    async def serve(self, socket: ServerConnection) -> None:
        self.count += 1
        self._peers.put_nowait(Peer(socket))
        await socket.wait_closed()

    async def accept(self) -> Peer:
        """Return the next connection."""
        async with asyncio.timeout(DEADLINE):
            return await self._peers.get()

    async def welcome(self, **more: Any) -> Peer:
        """Return the next connection after its hello was answered."""
        peer = await self.accept()
        await peer.welcome(**more)
        return peer

    @contextlib.asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[None]:
        protocols = [Subprotocol(SUBPROTOCOL)]
        async with serve(
            self.serve,
            "127.0.0.1",
            port,
            process_request=lambda socket, request: (
                socket.respond(503, "Full\n") if request.path in self.full else None
            ),
            subprotocols=protocols,
            ping_interval=None,
            close_timeout=1,
        ) as server:
            bound = next(iter(server.sockets)).getsockname()[1]
            self.address = parse_address(f"ws://127.0.0.1:{bound}")
            yield


class UnwritableSessions(MemorySessions):
    """Sessions of a program whose files can't be written."""

    def keep(self, *_: object) -> None:
        """Keep nothing."""


class RecordedLink:
    """A connected link and its events so far."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.events: list[LinkEvent] = []
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._record())

    async def _record(self) -> None:
        async for event in self.link:
            self.events.append(event)
            self._more.set()

    async def until(self, condition: Callable[[LinkEvent], bool]) -> LinkEvent:
        """Wait for an event that meets a condition."""
        async with asyncio.timeout(DEADLINE):
            while not (found := [event for event in self.events if condition(event)]):
                self._more.clear()
                await self._more.wait()
            return found[-1]

    async def until_is(self, kind: type[Event]) -> Event:
        """Wait for an event of a kind."""
        await self.until(lambda event: isinstance(event, kind))
        return self.of(kind)[-1]

    async def until_resumed(self, times: int = 1) -> None:
        """Wait until the link has reconnected a number of times."""
        await self.until(lambda _: self.events.count(Connected(resumed=True)) >= times)

    def of(self, kind: type[Event]) -> list[Event]:
        """The events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def close(self) -> None:
        await self.link.close()
        await self._task

    def act(self, revision: int) -> Act:
        """Send an action made on a revision."""
        message = Act(id=self.link.new_id(), revision=revision, action="3 5")
        self.link.send(message)
        return message

    async def acts(self, peer: Peer, *revisions: int) -> None:
        """Let the server acknowledge an action on each of these revisions."""
        for revision in revisions:
            act = self.act(revision)
            await peer.receive(Act)
            await peer.send(acked(act))
            await self.until(lambda event, act=act: isinstance(event, Acked) and event.to == act.id)  # type: ignore[misc]

    async def join(self, peer: Peer, revision: int = -1, generation: int = 1) -> None:
        """Take a seat, with a board if a revision is given."""
        joining = asyncio.create_task(self.link.request(Join(id=0, room="k7")))
        await peer.seat(generation=generation)
        await joining
        if revision >= 0:
            await peer.send(board_state(revision))
            await self.until_is(BoardState)


@contextlib.asynccontextmanager
async def connect(
    server: ScriptedServer,
    timeouts: LinkTimeouts | None = None,
    home: str = "/r/k7",
    evidence_root: Path | None = None,
    **welcome: Any,
) -> AsyncIterator[tuple[RecordedLink, Peer]]:
    """A link that was welcomed, and the server's side of its connection. Its sessions can't be saved."""
    link = Link(
        *(server.address, "ana", UnwritableSessions()),
        rng=Random(1),
        timeouts=timeouts,
        home=home,
        evidence_root=evidence_root,
    )
    _, peer = await asyncio.gather(link.__aenter__(), server.welcome(**welcome))
    recorded = RecordedLink(link)
    try:
        yield recorded, peer
    finally:
        await recorded.close()


def board_state(revision: int) -> BoardState:
    return BoardState(room="k7", revision=revision, game="willow", piles=(), hash=b"", moves=0, undos=0)


def acked(act: Act) -> Acked:
    """The acknowledgement of an action. Its time and its receipt are the revision that the action leads to."""
    revision = act.revision + 1
    return Acked(to=act.id, time=revision, hash=b"", receipt=str(revision).encode())


def rate_limited(message: ToServer, retry_after: float = 0.05) -> Refused:
    return Refused(to=message.id, code=RefusalCode.RATE_LIMITED, message="Slower", retry_after=retry_after)

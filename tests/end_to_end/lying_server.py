"""A server that lies: it passes on what a node and its clients say to each other, and changes some of it.

``tests/lies`` enumerates far more lies, without sockets and programs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from msgspec.structs import replace as with_fields
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol.codec import decode_to_client, decode_to_server, encode
from samedeal.protocol.messages import SUBPROTOCOL, Hello, RecordPart, Refused, RevealShare, RoomState, ToClient
from samedeal.protocol_codes import RefusalCode
from samedeal.record import Record
from samedeal.terms import RoomTerms
from samedeal_link.first_completed import first_of
from samedeal_server.page.files import PageFiles
from tests.end_to_end.watched_races import ROOM
from tests.server.client import Client
from tests.server.live_nodes import Node

PROTOCOLS = [Subprotocol(SUBPROTOCOL)]


class Liar:
    """A server that still tells the truth. ``revealed`` are the shares that the clients have revealed.

    It has one room with a joint deal, whose search takes a few hundredths of a second. ``states`` are the newest ones.
    """

    def __init__(self, node: Node) -> None:
        self._node, self.url = node, ""
        self.revealed: set[bytes] = set()
        self.states: dict[ServerConnection, RoomState] = {}

    def told(self, message: ToClient, name: str) -> ToClient:
        """Return what the client of a player is sent in place of a message."""
        return message

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Serve on a free port, also the page."""
        options: dict[str, Any] = {"games": ("ace-of-hearts",), "deal": "winnable easy", "start": "all-ready"}
        await (await Client.hello(self._node.url, "mira")).create(ROOM, limit=600, countdown=0, **options)
        page = PageFiles()
        async with serve(
            self._serve,
            "127.0.0.1",
            subprotocols=PROTOCOLS,
            process_request=lambda socket, request: (
                socket.respond(204, "") if request.method == "POST" else page.respond(request)  # to keep a session
            ),
        ) as server:
            self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            yield self

    async def _serve(self, client: ServerConnection) -> None:
        async with connect(self._node.url, subprotocols=PROTOCOLS, compression=None) as node:
            name = ""

            async def ask() -> None:
                nonlocal name
                async for frame in client:
                    message = decode_to_server(frame)
                    name = message.name if isinstance(message, Hello) else name
                    if isinstance(message, RevealShare):
                        self.revealed.add(message.share)
                    await node.send(frame)

            async def answer() -> None:
                async for frame in node:
                    message = self.told(decode_to_client(frame), name)
                    if isinstance(message, RoomState):
                        self.states[client] = message
                    await client.send(encode(message))

            with suppress(ConnectionClosed):
                async with first_of(ask(), answer()):
                    pass


class ChangedTerms(Liar):
    """Changes the terms when all have committed."""

    def told(self, message: ToClient, name: str) -> ToClient:
        if (
            not isinstance(message, RoomState)
            or not message.draw
            or not all(p.share_commitment for p in message.players)
        ):
            return message
        terms = RoomTerms.parse(message.terms)
        changed = replace(terms, options=with_fields(terms.options, limit=300))
        return with_fields(message, terms=str(changed), options=changed.options)


class NoRecord(Liar):
    """Gives no record."""

    def told(self, message: ToClient, name: str) -> ToClient:
        refused = Refused(to=getattr(message, "to", 0), code=RefusalCode.NO_RECORD, message="There is no record.")
        return refused if isinstance(message, RecordPart) else message


class RetimedMove(Liar):
    """Gives the first move of each player another time in the player's record."""

    def told(self, message: ToClient, name: str) -> ToClient:
        if not isinstance(message, RecordPart):
            return message
        record = Record.read(message.text)
        (own,) = (each for each in record.players if each.name == name)
        actions = tuple((time - (number == 0), action) for number, (time, action) in enumerate(own.actions))
        changed = replace(own, actions=actions)
        players = tuple(changed if each is own else each for each in record.players)
        return with_fields(message, text=str(replace(record, players=players)).encode())


class OtherResultsLater(Liar):
    """Shows other results once the clients have judged the race."""

    async def show_other_results(self) -> None:
        for client, state in self.states.items():
            lines = tuple(with_fields(line, moves=line.moves + 1) for line in state.standings)
            with suppress(ConnectionClosed):
                await client.send(encode(with_fields(state, standings=lines)))

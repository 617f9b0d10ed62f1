"""A client written from PROTOCOL.md alone: nothing of Samedeal's is imported here, and nothing may be.

It knows no rules of a game. It is told what counts, moves its own piles as the page says, and compares hashes.
"""

from __future__ import annotations

import hashlib
import re
from types import TracebackType
from typing import Any, Self

import msgpack  # type: ignore[import-untyped]  # it ships no types
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

PILES = {
    "athena": "1 2 3 4 5 6 7 01 02 03 04 stock w",
    "steve": "1 2 3 4 5 6 7 8 01 02 03 04 05 06 07 08 stock",
    "ace-of-hearts": "1 2 3 4 5 6 7 01 stock",
}
MOVE = re.compile(r"(0[1-8]|[1-9a-z]) ([0-9a-z])( x([2-9]|[1-9][0-9]))?")

Message = dict[str, Any]


def sha256(*parts: bytes | str) -> bytes:
    """The hash of some parts, one after the other. Texts are UTF-8."""
    return hashlib.sha256(b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)).digest()


def terms_digest(room: Message) -> bytes:
    """The hash of the terms in a state of a room, as DEALS.md defines it."""
    return sha256("samedeal terms 2\n", room["terms"])


class Piles:
    """The piles of one game by their names, as lists of cards."""

    def __init__(self, game: str, piles: list[bytes]) -> None:
        self.game = game
        self.piles = dict(zip(PILES[game].split(), map(list, piles), strict=True))

    def hash(self) -> bytes:
        """The state hash, as PROTOCOL.md defines it."""
        masked = (bytes(0xC0 if card & 0x80 else card for card in pile) for pile in self.piles.values())
        return hashlib.blake2b(b"\xff".join(masked), digest_size=8, key=self.game.encode("ascii")).digest()

    def move(self, action: str, seen: bytes) -> None:
        """Apply an accepted move."""
        faces = list(seen)
        match = MOVE.fullmatch(action)
        if match:
            source, target = self.piles[match[1]], match[2]
            size = int(match[4] or 1)
            moved = source[-size:]
            if target == "0":
                target = self.foundation(moved)
            del source[-size:]
            self.piles[target] += moved
            if source and source[-1] & 0x40:
                source[-1] = self.up(source[-1], faces)
        elif action == "draw":
            stock, waste = self.piles["stock"], self.piles["w"]
            if stock:
                for _ in range(min(3, len(stock))):
                    waste.append(self.up(stock.pop(), faces))
            else:
                stock += [card | 0x40 for card in reversed(waste)]
                waste.clear()
        elif action == "deal":
            stock = self.piles["stock"]
            for name in [name for name in self.piles if re.fullmatch("[1-9t]", name)]:
                if stock:
                    self.piles[name].append(self.up(stock.pop(), faces))
        assert not faces

    @staticmethod
    def up(card: int, faces: list[int]) -> int:
        """The card after it is turned up."""
        return faces.pop(0) if card == 0xC0 else card & 0x3F

    def foundation(self, cards: list[int]) -> str:
        """The first foundation, from the left, that accepts a card or a complete suit."""
        rank, suit = cards[0] & 0x0F, cards[0] & 0x30
        for name, pile in self.piles.items():
            if not re.fullmatch("0[1-8]", name):
                continue
            if not pile:
                if rank == 1 or len(cards) == 13:
                    return name
            elif self.game == "ace-of-hearts":
                if rank == pile[-1] % 16 % 13 + 1:
                    return name
            elif (rank, suit) == ((pile[-1] & 0x0F) + 1, pile[-1] & 0x30):
                return name
        raise AssertionError("no foundation takes it")


class ProtocolOnlyClient:
    """A connection that sends and receives messages as dicts."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.unasked: list[Message] = []
        self.id = 0

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connect."""
        return cls(await connect(url, subprotocols=[Subprotocol("samedeal.v1")], compression=None))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self.socket.close()

    async def receive(self) -> Message:
        """The next message."""
        frame = await self.socket.recv()
        message = msgpack.unpackb(frame)
        assert isinstance(message, dict)
        return message

    async def ask(self, kind: str, **fields: Any) -> Message:
        """Send a request and wait for its answer."""
        self.id += 1
        await self.socket.send(msgpack.packb({"type": kind, "id": self.id, **fields}))
        while True:
            message = await self.receive()
            if message.get("to") == self.id:
                return message
            self.unasked.append(message)

    async def until(self, kind: str) -> Message:
        """The next message of a kind that answers no request."""
        while True:
            message = self.unasked.pop(0) if self.unasked else await self.receive()
            if message["type"] == kind:
                return message

"""An operator for tests, which sends requests and receives answers with a timeout."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol.admin import SUBPROTOCOL, FromOperator, Granted, Login, ToOperator
from samedeal.protocol.codec import decode_to_operator, encode
from samedeal.protocol.messages import Refused
from tests.server.client import DEADLINE

TOKEN = "a token of twenty-six chars"

_Kind = TypeVar("_Kind")


class Operator:
    """An operator's connection. ``frames`` are all frames that it received."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[bytes | str] = []
        self._id = 0

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connect without logging in."""
        return cls(await connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None))

    @classmethod
    async def login(cls, url: str, token: str = TOKEN) -> Self:
        """Connect and log in."""
        operator = await cls.connect(url)
        await operator.expect(Granted, Login, token=token)
        return operator

    async def send(self, kind: Callable[..., FromOperator], **fields: Any) -> int:
        """Send a request and return its id."""
        self._id += 1
        await self.socket.send(encode(kind(id=self._id, **fields)))
        return self._id

    async def receive(self) -> ToOperator:
        """Receive the next message."""
        async with asyncio.timeout(DEADLINE):
            frame = await self.socket.recv()
        self.frames.append(frame)
        return decode_to_operator(frame)

    async def ask(self, kind: Callable[..., FromOperator], **fields: Any) -> ToOperator:
        """Send a request and return its answer."""
        number = await self.send(kind, **fields)
        answer = await self.receive()
        assert answer.to == number
        return answer

    async def expect(self, answer: type[_Kind], kind: Callable[..., FromOperator], **fields: Any) -> _Kind:
        """Send a request and check the type of its answer."""
        got = await self.ask(kind, **fields)
        assert isinstance(got, answer), got
        return got

    async def refused(self, code: str, kind: Callable[..., FromOperator], **fields: Any) -> Refused:
        """Send a request that is refused with a code."""
        got = await self.expect(Refused, kind, **fields)
        assert got.code == code, got
        assert len(got.message) > 10
        return got

    async def closed(self) -> int:
        """Wait until the server closes the connection, and return the close code."""
        async with asyncio.timeout(DEADLINE):
            try:
                while True:
                    await self.socket.recv()
            except ConnectionClosed:
                return self.socket.close_code or 0

    async def close(self) -> None:
        """Close the connection."""
        await self.socket.close()

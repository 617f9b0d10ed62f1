"""An operator's connection to a server."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Final, Self, TypeVar

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from samedeal.errors import MalformedFrame, Refused
from samedeal.names import printable
from samedeal.protocol.admin import (
    SUBPROTOCOL,
    BackedUp,
    Backup,
    BackupPart,
    FromOperator,
    Granted,
    Login,
    ToOperator,
)
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal_client.net.address import Address
from samedeal_client.net.dial import CannotConnect, dial
from samedeal_client.net.hearing import hear_operator

_LARGEST: Final = 1 << 20
"""Bytes; no message to an operator is larger."""

_PATIENCE: Final = 30.0
"""Seconds that a server has for an answer; a wrong token is answered late."""

Answer = TypeVar("Answer")


class Operator:
    """A connection that has shown the token. Use it as an async context manager: entering connects.

    ``node`` is the one that answers, ``time`` was the server's when it let us in. Everything raises CannotConnect where the
    server can't be had, or any more, and Refused with its refusals.
    """

    def __init__(self, address: Address, token: str) -> None:
        self.address = address
        self.node = ""
        self.time = 0
        self.server = ""
        self._token = token
        self._socket: ClientConnection | None = None
        self._last_id = 0

    async def __aenter__(self) -> Self:
        try:
            self._socket = await dial(self.address, SUBPROTOCOL, _LARGEST)
        except CannotConnect as error:
            if not error.for_good:
                raise
            raise CannotConnect(
                f"{self.address.typed} lets no operator in: start its nodes with a token, in SAMEDEAL_ADMIN_TOKEN or in a "
                "file that --admin-token-file names",
                for_good=True,
            ) from None
        try:
            granted = await self.ask(Login(id=0, token=self._token), Granted)
        except BaseException:
            await self._socket.close()
            raise
        self.node, self.server, self.time = granted.node, granted.server, granted.time
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._socket is not None:
            await self._socket.close()

    def another(self) -> Operator:
        """The same, before it has connected."""
        return Operator(self.address, self._token)

    async def ask(self, request: FromOperator, kind: type[Answer]) -> Answer:
        """Send a request, under an id of its own, and return the answer, which is of a kind."""
        await self._send(request)
        return self._expected(await self._hear(), kind)

    async def back_up(self, take: Callable[[bytes], object]) -> BackedUp:
        """Have a backup made, and each part of it taken as it comes; what has come is compared with what was sent."""
        await self._send(Backup(id=0))
        content, size = hashlib.sha256(), 0
        while isinstance(heard := await self._hear(), BackupPart):
            content.update(heard.data)
            size += len(heard.data)
            take(heard.data)
        whole = self._expected(heard, BackedUp)
        if (whole.size, whole.digest) != (size, content.digest()):
            raise CannotConnect("What has come is not what the server sent: try again")
        return whole

    async def _send(self, request: FromOperator) -> None:
        self._last_id += 1
        socket = self._connected()
        try:
            await socket.send(encode(replace(request, id=self._last_id)))
        except ConnectionClosed as closed:
            raise self._gone(closed) from None

    async def _hear(self) -> ToOperator:
        socket = self._connected()
        try:
            async with asyncio.timeout(_PATIENCE):
                return hear_operator(await socket.recv())
        except TimeoutError:
            raise CannotConnect(f"{self.address.typed} has not answered for {_PATIENCE:g} seconds") from None
        except ConnectionClosed as closed:
            raise self._gone(closed) from None
        except MalformedFrame as error:
            sentence = f"The server sent what this client does not understand ({error}): update one of the two"
            raise CannotConnect(sentence) from None

    def _connected(self) -> ClientConnection:
        if self._socket is None:
            raise RuntimeError("this operator has not connected")
        return self._socket

    def _gone(self, closed: ConnectionClosed) -> CannotConnect:
        said = printable(closed.rcvd.reason) if closed.rcvd is not None else ""
        return CannotConnect(f"{self.address.typed} has closed the connection{f': {said}' if said else ''}")

    def _expected(self, heard: ToOperator, kind: type[Answer]) -> Answer:
        if isinstance(heard, RefusedMessage):
            raise Refused(heard.code, heard.message, heard.retry_after or None)
        if not isinstance(heard, kind) or heard.to not in (self._last_id, -1):
            raise CannotConnect("The server answered something else than was asked: update one of the two")
        return heard

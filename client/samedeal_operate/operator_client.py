"""An operator's connection to a server, with one request at a time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Final, Self, TypeVar

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from samedeal.errors import MalformedFrame, RequestRefused
from samedeal.protocol.admin import (
    SUBPROTOCOL,
    BackedUp,
    Backup,
    BackupPart,
    Export,
    FromOperator,
    Granted,
    Login,
    ToOperator,
)
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Done, Refused
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.dial import CannotConnect, dial
from samedeal_link.connection.disconnect import reason_of
from samedeal_link.connection.sanitize import decode_operator_sanitized

_MAX_SIZE: Final = 1 << 20
"""Maximum size of a message to an operator, in bytes."""

_ANSWER_TIMEOUT: Final = 30.0
"""Timeout, in seconds, for an answer. The answer to a wrong token is delayed."""

_Answer = TypeVar("_Answer")


class OperatorClient:
    """An operator's connection. Entering the context manager connects and logs in with the token.

    ``node`` is the name of the node that answers, and ``time`` the server's time at the login. The context manager,
    ``ask`` and ``back_up`` raise CannotConnect if the connection fails or there is no valid answer. They raise
    RequestRefused if the server refuses the login or the request.
    """

    def __init__(self, address: ServerAddress, token: str) -> None:
        self.address = address
        self.node = ""
        self.time = 0
        self._token = token
        self._socket: ClientConnection
        self._last_id = 0

    async def __aenter__(self) -> Self:
        try:
            self._socket = await dial(self.address, SUBPROTOCOL, _MAX_SIZE)
        except CannotConnect as error:
            if not error.permanent:
                raise
            sentence = (
                f"{self.address.typed} accepts no operators. Start its nodes with a token in SAMEDEAL_ADMIN_TOKEN or "
                "--admin-token-file."
            )
            raise CannotConnect(sentence, permanent=True) from None
        try:
            granted = await self.ask(Login(id=0, token=self._token), Granted)
        except BaseException:
            await self._socket.close()
            raise
        self.node, self.time = granted.node, granted.time
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def ask(self, request: FromOperator, kind: type[_Answer]) -> _Answer:
        """Send a request under a new id and return its answer. Raise CannotConnect if the answer is not a ``kind``."""
        await self._send(request)
        return self._expected(await self._receive(), kind)

    async def export(self, player: str) -> bytes:
        """Return what is stored about a player, as JSON."""
        await self._send(Export(id=0, player=player))
        text = b""
        while isinstance(received := await self._receive(), BackupPart):
            text += received.data
        self._expected(received, Done)
        return text

    async def back_up(self, write: Callable[[bytes], object]) -> BackedUp:
        """Request a backup, pass each part to ``write``, and check the backup's size and digest.

        Return the server's last message, which has this size and digest. Raise CannotConnect if the backup was
        damaged on the way.
        """
        await self._send(Backup(id=0))
        content, size = hashlib.sha256(), 0
        while isinstance(received := await self._receive(), BackupPart):
            content.update(received.data)
            size += len(received.data)
            write(received.data)
        whole = self._expected(received, BackedUp)
        if (whole.size, whole.digest) != (size, content.digest()):
            raise CannotConnect("The backup was damaged on the way. Try again.")
        return whole

    async def _send(self, request: FromOperator) -> None:
        self._last_id += 1
        try:
            await self._socket.send(encode(replace(request, id=self._last_id)))
        except ConnectionClosed as closed:
            raise self._closed(closed) from None

    async def _receive(self) -> ToOperator:
        try:
            async with asyncio.timeout(_ANSWER_TIMEOUT):
                return decode_operator_sanitized(await self._socket.recv())
        except TimeoutError:
            sentence = f"{self.address.typed} did not answer within {_ANSWER_TIMEOUT:g} seconds. Try again."
            raise CannotConnect(sentence) from None
        except ConnectionClosed as closed:
            raise self._closed(closed) from None
        except MalformedFrame as error:
            sentence = f"This client does not understand the server. {error} Update this client or the server."
            raise CannotConnect(sentence) from None

    def _closed(self, closed: ConnectionClosed) -> CannotConnect:
        sentence = f"{self.address.typed} closed the connection{reason_of(closed)}. Try again."
        return CannotConnect(sentence)

    def _expected(self, received: ToOperator, kind: type[_Answer]) -> _Answer:
        if isinstance(received, Refused):
            raise RequestRefused(received.code, received.message, received.retry_after or None)
        if not isinstance(received, kind) or received.to not in (self._last_id, -1):
            sentence = "The server sent an unexpected answer. Update this client or the server."
            raise CannotConnect(sentence)
        return received

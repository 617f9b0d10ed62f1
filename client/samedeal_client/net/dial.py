"""Opening a connection to a server, or saying in one sentence why it can't be had."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
    ProxyError,
    WebSocketException,
)
from websockets.typing import Subprotocol

import samedeal
from samedeal.names import printable
from samedeal.protocol.messages import SUBPROTOCOL
from samedeal_client.net.address import Address, is_loopback_url

OPEN_TIMEOUT: Final = 10.0
_NOT_KNOWN: Final = (18, 19, 20, 21)
"""OpenSSL's numbers for certificates that lead to no authority which is trusted here."""

_LARGEST: Final = 256 * 1024
"""Bytes of a message from a server; the largest, a list of rooms, stays well under it."""


class CannotConnect(Exception):
    """There is no connection to be had; ``str()`` of it is a sentence for the player.

    ``for_good`` says that the server itself has told this client to stay away.
    """

    def __init__(self, sentence: str, *, for_good: bool = False) -> None:
        super().__init__(printable(sentence))  # the libraries' errors quote what the other end said
        self.for_good = for_good


async def dial(address: Address, subprotocol: str = SUBPROTOCOL, largest: int = _LARGEST) -> ClientConnection:
    """Connect, to speak a subprotocol in which no message has more bytes than ``largest``. Raises CannotConnect."""
    try:
        connection = await connect(
            address.url,
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            max_size=largest,
            ping_interval=None,
            open_timeout=OPEN_TIMEOUT,
            close_timeout=1,
            user_agent_header=f"samedeal/{samedeal.__version__}",
            proxy=None if is_loopback_url(address.url) else True,
        )
    except (OSError, TimeoutError, UnicodeError, WebSocketException, EOFError) as error:
        raise _explained(address, error) from error
    if connection.subprotocol is None:
        # A samedeal server of another version says so in its close code; who says nothing is none.
        code = await _closed_with(connection)
        if code is None:
            raise CannotConnect(f"{address.typed} is not a Samedeal server: it does not speak {subprotocol}")
        raise CannotConnect(
            f"{address.typed} and this client, which speaks {subprotocol}, don't fit: {code}", for_good=True
        )
    return connection


async def _closed_with(connection: ClientConnection) -> str | None:
    try:
        async with asyncio.timeout(2):
            await connection.wait_closed()
    except TimeoutError:
        await connection.close()
        return None
    return connection.close_reason if (connection.close_code or 0) >= 4000 else None


def _explained(address: Address, error: Exception) -> CannotConnect:
    where = address.typed
    if isinstance(error, WebSocketException | EOFError):
        return CannotConnect(_handshake_failed(address, where, error))
    return CannotConnect(_unreachable(address, where, error))


def _handshake_failed(address: Address, where: str, error: Exception) -> str:
    match error:
        case InvalidStatus(response=response) if response.status_code in (429, 502, 503, 504):
            said = _first_line(bytes(response.body or b""))
            return f"{where} takes nobody just now (HTTP {response.status_code}){said}"
        case InvalidStatus(response=response):
            return f"{where} is not a Samedeal server: it answers with HTTP {response.status_code}"
        case NegotiationError():
            return f"{where} does not speak {SUBPROTOCOL}, as this client does"
        case ProxyError():
            return f"The proxy on the way to {where} does not let us through: {error}"
        case InvalidMessage() | EOFError():
            return f"{where} is not a Samedeal server: it does not answer as a web server does"
        case InvalidURI():
            return f"{address.url} is not an address that can be reached"
        case _:
            return f"{where} is not a Samedeal server: {error}"


def _unreachable(address: Address, where: str, error: Exception) -> str:
    match error:
        case ssl.SSLCertVerificationError(verify_message=why):
            return f"The certificate of {where} is not to be trusted: {why}{own_authority(error)}"
        case ssl.SSLError():
            hint = f"if it has no TLS, write ws://{address.url.partition('://')[2]}"
            return f"{where} does not speak TLS on this port: {hint}"
        case socket.gaierror() | UnicodeError():  # a name that can't be one
            return f"There is no host {address.host}: check the address"
        case ConnectionRefusedError():
            return f"Nothing listens at {where}: is the server running, and is that its port?"
        case TimeoutError():
            return f"{where} does not answer within {OPEN_TIMEOUT:g} seconds"
        case OSError(strerror=str() as why):
            return f"{where} can't be reached: {why}"
        case _:
            return f"{where} can't be reached: {error}"


def own_authority(error: Exception) -> str:
    """What to do about a certificate of an authority that nobody knows, after a semicolon; empty for other errors."""
    if getattr(error, "verify_code", 0) not in _NOT_KNOWN:
        return ""
    return "; if that authority is your own, name the file with its certificate in SSL_CERT_FILE"


def _first_line(body: bytes) -> str:
    shown = printable(body.decode("utf-8", "replace").strip().partition("\n")[0], 120)
    return f": {shown}" if shown and "<" not in shown else ""

"""Opening a WebSocket connection to a server. A failure is explained to the player in a sentence."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final, Literal

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
    ProxyError,
    WebSocketException,
)
from websockets.http11 import Response
from websockets.typing import Subprotocol

import samedeal
from samedeal.protocol.messages import SUBPROTOCOL
from samedeal.terminal_text import printable
from samedeal_link.connection.address import ServerAddress, is_loopback_url, parse_address
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import terminal

OPEN_TIMEOUT: Final = 10.0
"""Timeout, in seconds, for the WebSocket handshake and for the welcome after it."""

_VERSION_CLOSE_TIMEOUT: Final = 2.0
"""Timeout, in seconds, for the close frame of a server that speaks another version."""

_UNKNOWN_AUTHORITY: Final = (18, 19, 20, 21)
"""OpenSSL's verify codes for certificates that no trusted authority has signed."""

_MAX_SIZE: Final = 256 * 1024
"""Maximum size of a message, in bytes. The largest message, a list of rooms, is much smaller."""


ConnectFailure = Literal["no_host", "no_server", "busy", "other"]
"""Why a connection failed: the host name has no address, nothing listens there, or the server accepts none now."""


class CannotConnect(Failure):
    """The failure of an attempt to connect, for the reason ``why``. If ``permanent`` is true, retrying does not help."""

    def __init__(self, sentence: str, why: ConnectFailure = "other", *, permanent: bool = False) -> None:
        super().__init__(printable(sentence))  # a library's error may quote the server
        self.why = why
        self.permanent = permanent


async def dial(
    address: ServerAddress, subprotocol: str = SUBPROTOCOL, max_size: int = _MAX_SIZE, path: str = ""
) -> ClientConnection:
    """Connect to a server and return the connection. Raise CannotConnect on failure.

    ``subprotocol`` is the WebSocket subprotocol to use. ``max_size`` is the maximum size of a received message, in
    bytes. ``path`` is added to the URL.
    """
    only = terminal().only_server
    if only and address.url != parse_address(only).url:
        sentence = f"Here you can only play on {only}. Leave out {address.typed}."
        raise CannotConnect(sentence, permanent=True)
    try:
        connection = await connect(
            address.at(path),
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            max_size=max_size,
            ping_interval=None,
            open_timeout=OPEN_TIMEOUT,
            close_timeout=1,
            additional_headers=terminal().headers,
            user_agent_header=f"samedeal/{samedeal.__version__}",
            proxy=None if is_loopback_url(address.url) else True,
            ssl=_trusting(address.certificate) if address.certificate else address.encrypted or None,
        )
    except (OSError, TimeoutError, UnicodeError, WebSocketException, EOFError) as error:
        raise connect_error(address, error) from error
    if connection.subprotocol is None:
        # A Samedeal server of another version sends a close frame with the reason. Any other server sends none.
        reason = await _close_reason(connection)
        if reason is None:
            sentence = f"{address.typed} is not a Samedeal server: it does not speak {subprotocol}. Check the address."
            raise CannotConnect(sentence)
        reason = reason.rstrip(".")
        sentence = f"This client speaks {subprotocol}, but {address.typed} says: {reason}. Update the older of the two."
        raise CannotConnect(sentence, permanent=True)
    return connection


def _trusting(certificate: str) -> ssl.SSLContext:
    """Return the TLS context of a client that trusts one certificate, whatever its name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(certificate)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


async def _close_reason(connection: ClientConnection) -> str | None:
    try:
        async with asyncio.timeout(_VERSION_CLOSE_TIMEOUT):
            await connection.wait_closed()
    except TimeoutError:
        await connection.close()
        return None
    return connection.close_reason if (connection.close_code or 0) >= 4000 else None


def connect_error(address: ServerAddress, error: Exception) -> CannotConnect:
    """Return the error that tells the player why a connection failed and what to do."""
    explained = _handshake_failure if isinstance(error, WebSocketException | EOFError) else _network_failure
    return explained(address, error)


def _handshake_failure(address: ServerAddress, error: Exception) -> CannotConnect:
    server = address.typed
    match error:
        case InvalidStatus(response=response) if response.status_code in (429, 502, 503, 504):
            reason = _first_line(bytes(response.body or b"")) or "Try again later."
            sentence = f"{server} accepts no connections now (HTTP {response.status_code}). {reason}"
            return CannotConnect(sentence, "busy")
        case InvalidStatus(response=Response(status_code=426 | 505 as status)):  # an answer of a server to a proxy
            sentence = f"A proxy in front of {server} passes no WebSockets (HTTP {status})."
            return CannotConnect(f"{sentence} Tell its operator to pass Upgrade and Connection with HTTP/1.1.")
        case InvalidStatus(response=Response(status_code=403, body=body)) if reason := _first_line(bytes(body or b"")):
            return CannotConnect(f"{server} refuses the connection (HTTP 403). {reason}")
        case InvalidStatus(response=Response(status_code=400)) | InvalidMessage() | EOFError() if not address.encrypted:
            # A server with TLS closes such a connection, or a proxy in front of it answers with HTTP 400.
            encrypted = f"wss://{address.url.partition('://')[2]}"
            sentence = f"No Samedeal server answers at {server} without TLS. Check the address, or try {encrypted}"
            return CannotConnect(f"{sentence} with TLS.")
        case InvalidStatus(response=response):
            why = f"it answers with HTTP {response.status_code}"
        case InvalidMessage() | EOFError():
            why = "it does not answer like a web server"
        case NegotiationError():
            return CannotConnect(f"{server} does not speak {SUBPROTOCOL}. Update this client or the server.")
        case ProxyError():
            return CannotConnect(
                f"The proxy refuses the connection to {server}: {error}. Check HTTPS_PROXY and NO_PROXY."
            )
        case InvalidURI():
            return CannotConnect(f"{address.url} is not a valid address. Check its spelling.")
        case _:
            why = str(error)
    return CannotConnect(f"{server} is not a Samedeal server: {why}. Check the address.")


def _network_failure(address: ServerAddress, error: Exception) -> CannotConnect:
    server = address.typed
    match error:
        case ssl.SSLCertVerificationError(verify_message=reason):
            return CannotConnect(f"The certificate of {server} is not trusted: {reason}. {certificate_advice(error)}")
        case ssl.SSLError():
            plain = f"ws://{address.url.partition('://')[2]}"
            sentence = f"{server} does not speak TLS on this port. If the server has no TLS, write {plain} instead."
            return CannotConnect(sentence)
        case socket.gaierror() | UnicodeError():  # UnicodeError: the name is no valid host name
            return CannotConnect(f"There is no host {address.host}. Check the address.", "no_host")
        case ConnectionRefusedError():
            sentence = f"Nothing listens at {server}. Check that the server is running and that the port is right."
            return CannotConnect(sentence, "no_server")
        case TimeoutError():
            sentence = f"{server} did not answer within {OPEN_TIMEOUT:g} seconds"
            return CannotConnect(f"{sentence}. Check the address, or try again later.")
        case _:
            reason = getattr(error, "strerror", None) or str(error)
            return CannotConnect(f"Cannot reach {server}: {reason}. Check the address and your network.")


def certificate_advice(error: Exception) -> str:
    """Return a sentence that says what to do about a certificate that is not trusted."""
    if getattr(error, "verify_code", 0) in _UNKNOWN_AUTHORITY:
        return (
            "If your own certificate authority issued it, set SSL_CERT_FILE to the file that holds the authority's "
            "certificate."
        )
    return "Check the address and the clock of this machine, or tell the operator of the server."


def _first_line(body: bytes) -> str:
    """Return the first line of the body of an HTTP response. Return an empty string if the body is HTML."""
    shown = printable(body.decode("utf-8", "replace").strip().partition("\n")[0], 120)
    return "" if "<" in shown else shown

"""Opening a connection, and the errors if there is no server or another kind of server."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import (
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
    ProxyError,
)
from websockets.http11 import Response

from samedeal.protocol_codes import CloseCode
from samedeal_link.connection.address import ServerAddress, parse_address
from samedeal_link.connection.dial import CannotConnect, connect_error, dial
from samedeal_link.machine.terminal import Terminal, use_terminal
from tests.golden.golden_files import assert_sentences
from tests.server.certificates import Keys
from tests.server.local_server import local_server


async def failed_dial(address: ServerAddress) -> CannotConnect:
    """Return the error of a connection that is not possible."""
    with pytest.raises(CannotConnect) as failed:
        await dial(address)
    return failed.value


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "is not a Samedeal server"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 13\r\n\r\n<html></html>", "accepts no connections now (HTTP 503)"),
        (b"220 smtp.example.org ESMTP\r\n", "No Samedeal server answers"),
        (b"\xff" * 4000, "No Samedeal server answers"),
        (b"HTTP/1.1 101 \x1b[2J\r\nUpgrade: \x1b[2J\x9b\r\nConnection: \x1b]0;x\x07\r\n\r\n", "127.0.0.1"),
        (b"HTTP/1.1 101 Fine\r\nUpgrade: \xe2\x80\xae\r\nConnection: Upgrade\r\n\r\n", "127.0.0.1"),
        (
            b"HTTP/1.1 503 Busy\r\nContent-Length: 13\r\n\r\n\x1b[2J\xe2\x80\xae\x9b\r\n\r\n\r\n",
            "accepts no connections",
        ),
    ],
)
async def test_other_kinds_of_servers_are_named(answer: bytes, said: str) -> None:
    """Their answers may be invalid, and full of control characters."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with local_server(handle) as port:
        error = await failed_dial(parse_address(f"127.0.0.1:{port}"))
    assert said in str(error)
    assert str(error).isprintable()


async def test_tls_is_suggested_for_a_tls_port(tmp_path: Path) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    keys = Keys(tmp_path)
    tls.load_cert_chain(keys.cert, keys.key)
    async with local_server(lambda reader, _: reader.read(), tls) as port:
        error = await failed_dial(parse_address(f"127.0.0.1:{port}"))
    assert f"wss://127.0.0.1:{port}" in str(error)


async def dialled(handler: Callable[[ServerConnection], Awaitable[None]]) -> CannotConnect:
    """The error of a connection to a WebSocket server that does this."""
    async with serve(handler, "127.0.0.1", 0, close_timeout=1) as server:
        return await failed_dial(parse_address(f"127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"))


async def test_other_websocket_server_is_named() -> None:
    error = await dialled(ServerConnection.wait_closed)
    assert ("is not a Samedeal server" in str(error), error.permanent) == (True, False)


async def test_server_of_another_version_is_quoted() -> None:
    error = await dialled(lambda connection: connection.close(CloseCode.VERSION, "this server speaks samedeal.v2"))
    assert ("this server speaks samedeal.v2" in str(error), error.permanent) == (True, True)


def response(status: int, body: bytes) -> Response:
    return Response(status, "", Headers(), body)


EXPLAINED = [
    InvalidStatus(response(503, b"This server is stopping.\n")),
    InvalidStatus(response(503, b"<html></html>")),
    InvalidStatus(response(404, b"")),
    InvalidStatus(response(403, b"Not from here.\n")),
    InvalidStatus(response(426, b"Failed to open a WebSocket connection.\n")),
    NegotiationError("no subprotocol"),
    ProxyError("the proxy answers with HTTP 403"),
    InvalidMessage("no HTTP"),
    InvalidURI("ws://", "no host"),
    InvalidHandshake("another error"),
    ssl.SSLError("no TLS"),
    socket.gaierror("no host"),
    ConnectionRefusedError(),
    TimeoutError(),
    OSError(113, "No route to host"),
    OSError("another error"),
]


def test_failures_are_explained() -> None:
    address = parse_address("wss://example.org:7777")
    untrusted = ssl.SSLCertVerificationError("untrusted")
    expired = ssl.SSLCertVerificationError("expired")
    untrusted.verify_code, untrusted.verify_message = 20, "unable to get local issuer certificate"
    expired.verify_code, expired.verify_message = 10, "certificate has expired"
    errors = [connect_error(address, error) for error in (*EXPLAINED, untrusted, expired)]
    plain = parse_address("ws://example.org:7777")
    errors += [connect_error(plain, error) for error in (InvalidMessage("no HTTP"), InvalidStatus(response(400, b"")))]
    assert_sentences("client connection: failures", [f"{error.why}\t{error}" for error in errors])


async def test_session_of_a_door_reaches_only_its_server() -> None:
    class Elsewhere(Terminal):
        only_server = "127.0.0.1:1"

    async def dial_from(address: str) -> str:
        use_terminal(Elsewhere())
        with pytest.raises(CannotConnect) as failure:
            await dial(parse_address(address))
        return str(failure.value)

    assert (
        await asyncio.create_task(dial_from("127.0.0.1:2"))
        == "Here you can only play on 127.0.0.1:1. Leave out 127.0.0.1:2."
    )
    assert "Nothing listens at 127.0.0.1:1" in await asyncio.create_task(dial_from("127.0.0.1:1"))

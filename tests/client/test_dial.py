"""Opening a connection, and the errors if there is no server or another kind of server."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from websockets import exceptions
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Response

from samedeal.protocol_codes import CloseCode
from samedeal_link.connection.address import ServerAddress, parse_address
from samedeal_link.connection.dial import CannotConnect, connect_error, dial
from samedeal_link.machine.terminal import Terminal, use_terminal
from tests.golden.golden_files import assert_answered, assert_answers
from tests.server.certificates import Keys
from tests.server.local_server import local_server


async def failed_dial(address: ServerAddress) -> CannotConnect:
    """Return the error of a connection that is not possible."""
    with pytest.raises(CannotConnect) as failed:
        await dial(address)
    return failed.value


async def test_other_kinds_of_servers_are_named() -> None:
    async def answer(_: str, question: str) -> str:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(eval(question))
            await writer.drain()
            writer.close()

        async with local_server(handle) as port:
            error = await failed_dial(parse_address(f"127.0.0.1:{port}"))
        assert str(error).isprintable()
        return str(error).replace(f":{port}", ":PORT")

    await assert_answered("other_servers", answer)


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


async def test_server_of_another_version_is_quoted() -> None:
    error = await dialled(lambda connection: connection.close(CloseCode.VERSION, "this server speaks samedeal.v2"))
    assert ("this server speaks samedeal.v2" in str(error), error.permanent) == (True, True)


def response(status: int, body: bytes) -> Response:
    return Response(status, "", Headers(), body)


def untrusted(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(message)
    error.verify_code, error.verify_message = code, message
    return error


NAMES = {**globals(), **vars(exceptions), "socket": socket}
"""What the expressions of the page may name."""


def test_failures_are_explained() -> None:
    def answer(url: str, question: str) -> str:
        error = connect_error(parse_address(url), eval(question, NAMES))
        return f"{error.why}: {error}"

    assert_answers("failed_connections", answer)


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

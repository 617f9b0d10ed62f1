"""Tests of listening: which addresses of this machine accept connections, and which of them is announced."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from websockets.asyncio.server import ServerConnection, serve

from samedeal_server.process.listening import listening, port_of
from tests.server.expected_errors import refused

IPV4, IPV6 = "127.0.0.1", "::1"

pytestmark = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")


async def handler(_socket: ServerConnection) -> None:
    pass


@asynccontextmanager
async def server(host: str, port: int = 0) -> AsyncIterator[int]:
    async with listening(partial(serve, handler), host, port, "--port") as server:
        yield port_of(server)


def accepts(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port)).close()
    except ConnectionRefusedError:
        return False
    return True


async def test_host_listens_on_its_addresses() -> None:
    for host, addresses in (("all", {IPV4, IPV6}), ("0.0.0.0", {IPV4}), ("::", {IPV6}), (IPV4, {IPV4}), (IPV6, {IPV6})):
        async with server(host) as port:
            assert {address for address in (IPV4, IPV6) if accepts(address, port)} == addresses


async def test_port_in_use_or_foreign_address_is_refused() -> None:
    for host, taken in (("all", "0.0.0.0"), ("all", "::"), ("0.0.0.0", "all"), ("::", "all")):
        async with server(taken) as port:
            with refused("port_in_use"):
                await server(host, port).__aenter__()
    with refused("cannot_listen"):
        await server("192.0.2.1").__aenter__()

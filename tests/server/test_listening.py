"""Tests of listening: which addresses of this machine accept connections, and which of them is announced."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from websockets.asyncio.server import ServerConnection, serve

from samedeal_server.config.config import Config
from samedeal_server.process import banner
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


async def test_announced_address_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback addresses stand for the networks of a machine. A network that it lacks has an invalid address."""
    none, both = "no address", (IPV4, IPV6)
    for host, networks, announced in (
        *(("all", both, IPV4), ("all", (none, IPV6), IPV6)),
        *(("0.0.0.0", both, IPV4), ("0.0.0.0", (none, IPV6), "")),
        *(("::", both, IPV6), ("::", (IPV4, none), "")),
    ):
        reached = dict(zip((socket.AF_INET, socket.AF_INET6), networks, strict=True))
        monkeypatch.setattr(banner, "TEST_ADDRESSES", reached)
        assert banner.own_address(host) == announced
        async with server(host) as port:
            addresses = banner.listen_addresses(Config(host=host), port)
            assert accepts(addresses.local.partition("//")[2].rpartition(":")[0].strip("[]"), port)
            assert addresses.reachable_from_elsewhere == bool(announced)
            assert not announced or accepts(announced, port)

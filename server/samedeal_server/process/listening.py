"""Helpers for listening on a port, also with several processes on the same port."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from websockets.asyncio.server import Server

from samedeal_server.config.addresses import parse_address
from samedeal_server.errors import StartupError

ALL_ADDRESSES: Final = "all"
"""The value of the setting ``host`` that stands for all addresses of this machine, IPv4 and IPv6."""


@asynccontextmanager
async def listening(
    start: Callable[..., Awaitable[Server]], host: str, port: int, flag: str, *, is_shared: bool = False
) -> AsyncIterator[Server]:
    """Start a server, yield it, and close the server when the ``async with`` block ends.

    ``start`` is called with the arguments of ``loop.create_server`` that say where to listen. ``flag`` is the command
    line flag that sets the port. If ``is_shared`` is true, several processes may listen on the port. Raise StartupError
    ``port_in_use`` or ``cannot_listen`` if the server cannot start.
    """
    with _explained(host, port, flag):
        if host == ALL_ADDRESSES:
            started = await start(sock=_bind(host, port, is_shared=is_shared))
        else:
            started = await start(host=host, port=port, reuse_port=is_shared or None)
    try:
        yield started
    finally:
        started.close()
        await started.wait_closed()


def port_of(server: Server) -> int:
    """Return the port on which a server listens."""
    return int(server.sockets[0].getsockname()[1])


@contextmanager
def reserved_port(host: str, port: int) -> Iterator[int]:
    """Reserve a port on which several processes will listen, and yield the port. If ``port`` is 0, choose a free port.

    Raise StartupError ``port_in_use`` or ``cannot_listen`` if the port cannot be reserved. A port that the workers of
    another server share also counts as in use.
    """
    if not hasattr(socket, "SO_REUSEPORT"):
        raise StartupError("cannot_share_port")
    with _explained(host, port, "--port"):
        if port:
            _bind(host, port, is_shared=False).close()
        bound = _bind(host, port, is_shared=True)
    with bound:
        yield int(bound.getsockname()[1])


@contextmanager
def _explained(host: str, port: int, flag: str) -> Iterator[None]:
    """Convert an OSError from the ``with`` block to StartupError. The block binds a socket or listens on it."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartupError("port_in_use", port=port, flag=flag) from None
        raise StartupError("cannot_listen", host=host, port=port, reason=error.strerror or error) from None


def _bind(host: str, port: int, *, is_shared: bool) -> socket.socket:
    """Return a socket that is bound to an address and does not listen yet.

    For all IPv4 and IPv6 addresses, it is one socket. With two, they would get different ports if ``port`` is 0.
    """
    dual_stack = host == ALL_ADDRESSES and socket.has_dualstack_ipv6()
    given = ("::" if dual_stack else "0.0.0.0") if host == ALL_ADDRESSES else host  # noqa: S104  # as the user wants it
    family, kind, number, _, address = socket.getaddrinfo(given, port, type=socket.SOCK_STREAM)[0]
    unbound = socket.socket(family, kind, number)
    try:
        if dual_stack:
            unbound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        unbound.bind(address)
    except OSError:
        unbound.close()
        raise
    return unbound


def is_unspecified(host: str) -> bool:
    """Return whether a host stands for all addresses of this machine, or for all of its IPv4 or IPv6 addresses."""
    address = parse_address(host)
    return host == ALL_ADDRESSES or (address is not None and address.is_unspecified)


def local_host(host: str) -> str:
    """Return the host at which clients on this machine reach a server that listens on ``host``."""
    if is_unspecified(host):
        return "::1" if ":" in host else "127.0.0.1"
    return host


def url_host(host: str) -> str:
    """Return a host as it is written in a URL. An IPv6 address is put in brackets."""
    return f"[{host}]" if ":" in host else host

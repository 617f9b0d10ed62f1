"""Listening on a port."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final

from websockets.asyncio.server import Server

from samedeal_server.errors import StartupCode, StartupError

ALL_ADDRESSES: Final = "all"
"""The host that stands for all addresses of this machine, IPv4 and IPv6."""


@asynccontextmanager
async def listening(start: Callable[..., Awaitable[Server]], host: str, port: int, flag: str) -> AsyncIterator[int]:
    """Start a server, yield the port it listens on, and close it on exit. ``flag`` is the flag that sets the port.

    ``start`` is called with the arguments of ``loop.create_server`` that say where to listen.
    Raises StartupError ``port_in_use`` or ``cannot_listen``.
    """
    try:
        if host == ALL_ADDRESSES:
            started = await start(sock=_bind_all_addresses(port))
        else:
            started = await start(host=host, port=port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartupError(
                StartupCode.PORT_IN_USE,
                f"Port {port} is in use. Stop the program that uses it, or choose another port with {flag}.",
            ) from None
        raise StartupError(
            StartupCode.CANNOT_LISTEN,
            f"Cannot listen on {host} port {port}: {error.strerror or error}. Choose another address or port.",
        ) from None
    try:
        yield int(started.sockets[0].getsockname()[1])
    finally:
        started.close()
        await started.wait_closed()


def _bind_all_addresses(port: int) -> socket.socket:
    """Bind a socket to all addresses. A single socket for IPv4 and IPv6 has one port, even if any free one will do."""
    dual_stack = socket.has_dualstack_ipv6()
    bound = socket.socket(socket.AF_INET6 if dual_stack else socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if dual_stack:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind(("", port))
    except OSError:
        bound.close()
        raise
    return bound


def is_unspecified(host: str) -> bool:
    """Return whether ``host`` stands for all addresses of this machine, or all of its IPv4 or IPv6 addresses."""
    try:
        return host == ALL_ADDRESSES or ip_address(host).is_unspecified
    except ValueError:  # a host name
        return False


def local_host(host: str) -> str:
    """Return the host by which this machine reaches a server that listens on ``host``."""
    if is_unspecified(host):
        return "::1" if ":" in host else "127.0.0.1"
    return host


def url_host(host: str) -> str:
    """Return a host as it is written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host

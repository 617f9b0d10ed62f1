"""The PROXY protocol, with which a load balancer tells the addresses of its clients (versions 1 and 2)."""

from __future__ import annotations

import asyncio
import socket
import struct
from ipaddress import ip_address
from typing import Final

_SIGNATURE: Final = b"\r\n\r\n\0\r\nQUIT\n"
_LONGEST_LINE: Final = 107
_ADDRESS_BYTES: Final = {0x1: 4, 0x2: 16}
"""The length of an address, by the family in a header of version 2."""


async def read_proxy_header(connection: socket.socket, peer: str) -> str:
    """Return the address of the client that is connected through a load balancer with the address ``peer``.

    Return ``peer`` if the load balancer connects for itself, for example for a health check. Raise ValueError if the
    connection does not begin with a header.
    """
    start = await _read(connection, len(_SIGNATURE))
    if start == _SIGNATURE:
        command, family, length = struct.unpack("!BBH", await _read(connection, 4))
        body = await _read(connection, min(length, 1024))
        size = _ADDRESS_BYTES.get(family >> 4, 0)
        return str(ip_address(body[:size])) if command == 0x21 and size else peer
    while not start.endswith(b"\r\n"):
        if len(start) > _LONGEST_LINE:
            break
        start += await _read(connection, 1)
    words = start.decode("ascii", "replace").split()
    if words[:1] != ["PROXY"] or not start.endswith(b"\r\n"):
        raise ValueError("no PROXY header")
    return str(ip_address(words[2])) if words[1] in ("TCP4", "TCP6") and len(words) > 2 else peer


async def _read(connection: socket.socket, count: int) -> bytes:
    """Read exactly ``count`` bytes, and leave the rest to ssh."""
    data = b""
    while len(data) < count:
        more = await asyncio.get_running_loop().sock_recv(connection, count - len(data))
        if not more:
            raise ValueError("the connection was closed")
        data += more
    return data

"""Who a client is that comes through proxies."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

FORWARDED: Final = "X-Forwarded-For"
"""The header to which each proxy adds the address of who came to it."""

_FARTHEST: Final = 20
"""Proxies that one may come through."""

_WITH_PORT: Final = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::\d{1,5})?")


class Proxies:
    """The proxies that are believed; ``trusted`` are addresses and networks. Raises ValueError for what is neither."""

    def __init__(self, trusted: Collection[str]) -> None:
        self._networks = tuple(_network(each) for each in trusted)

    def trusts(self, peer: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        address = _address(peer)
        return address is not None and self._has(address)

    def client(self, peer: str, forwarded: Iterable[str]) -> str:
        """The address of a client, from that of who connected and the ``X-Forwarded-For`` headers, in their order.

        Each proxy adds on the right who came to it: the client is the last who is not a trusted proxy. What else a client
        claims, on the left of that, is its own invention.
        """
        address = _address(peer)
        if address is None or not self._has(address):
            return peer if address is None else str(address)
        for claimed in reversed(",".join(forwarded).rsplit(",", _FARTHEST)[-_FARTHEST:]):
            earlier = _address(claimed)
            if earlier is None:
                break
            address = earlier
            if not self._has(address):
                break
        return str(address)

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(
            f"--trusted-proxies: {text!r} is no address or network ({error}): write 10.0.0.7 or 10.0.0.0/8"
        ) from None


def _address(text: str) -> Address | None:
    """The address in a text that may have a port, brackets, quotes and a zone; None where it is none."""
    plain = text.strip().strip('"')
    match = _WITH_PORT.fullmatch(plain)
    bare = (match[1] or match[2] or "") if match else plain
    try:
        address = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address

"""Finding the address of a client that connects through proxies."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from typing import Final

from samedeal_server.config.addresses import Address, parse_address

FORWARDED: Final = "X-Forwarded-For"
"""The HTTP header to which each proxy appends the address of its client."""

_MAX_PROXIES: Final = 20
"""Maximum number of addresses that are read from the header, from its end."""

_WITH_PORT: Final = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::\d{1,5})?")


class TrustedProxies:
    """The proxies whose headers are trusted.

    ``trusted`` holds their addresses or networks. Raise ValueError if it holds any other text.
    """

    def __init__(self, trusted: Collection[str]) -> None:
        self._networks = tuple(_network(text) for text in trusted)

    def trusts(self, peer: str) -> bool:
        """Return whether a trusted proxy has the address ``peer``."""
        address = _address(peer)
        return address is not None and self._has(address)

    def client(self, peer: str, forwarded: Iterable[str]) -> str:
        """Return the address of a client. ``peer`` is the address that the connection comes from: a client or a proxy.

        If ``peer`` is not a trusted proxy, return ``peer``. Otherwise return the last address in ``forwarded`` that is
        not a trusted proxy. ``forwarded`` holds the ``X-Forwarded-For`` headers, in order. Each proxy has appended the
        address that its connection comes from. The client may have made up the addresses before its own.
        """
        address = _address(peer)
        if address is None or not self._has(address):
            return peer if address is None else str(address)
        for entry in reversed(",".join(forwarded).rsplit(",", _MAX_PROXIES)[-_MAX_PROXIES:]):
            earlier = _address(entry)
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
            f"{text!r} is not an address or network ({error}). Write it as in 10.0.0.7 or 10.0.0.0/8."
        ) from None


def _address(text: str) -> Address | None:
    """Parse an address that may have a port, brackets, quotes and a zone. Return None if the text is not an address."""
    plain = text.strip().strip('"')
    match = _WITH_PORT.fullmatch(plain)
    bare = (match[1] or match[2] or "") if match else plain
    return parse_address(bare)

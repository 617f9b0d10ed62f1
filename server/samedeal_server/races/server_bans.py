"""Bans of players by their ids, and of networks by their addresses. This module is pure."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from samedeal.errors import MalformedText
from samedeal.protocol.admin import BanLine
from samedeal_server.config.addresses import parse_address

PLAYER: Final = re.compile(r"[0-9a-f]{20}")
"""The form of players' ids."""

_MIN_PREFIX: Final = {4: 8, 6: 16}
"""Minimum prefix length of a banned network, by IP version. A typing error therefore cannot ban everybody."""

_HOST_PREFIX: Final = 64
"""Prefix length of the IPv6 network in which a single computer can usually choose any address."""

_MAX_QUOTED: Final = 60


def normalize_target(text: str) -> str:
    """Return the normal form of a player's id, an address or a network.

    Raise MalformedText for any other text, and for a network that is too large to ban. A single IPv6 address becomes
    its /64 network, because a computer can usually choose any address in that network.
    """
    target = text.strip().lower()
    if PLAYER.fullmatch(target):
        return target
    try:
        network = _unmapped(ip_network(target, strict=False))
    except ValueError:
        raise MalformedText(
            f"{text[:_MAX_QUOTED]!r} is neither a player nor an address. Give a player's id as samedeal admin room shows "
            "it, an address, or a network such as 203.0.113.0/24."
        ) from None
    minimum = _MIN_PREFIX[network.version]
    if network.prefixlen < minimum:
        raise MalformedText(f"The network {network} is too large. Ban a network of /{minimum} or smaller.")
    if network.num_addresses > 1:
        return str(network)
    return str(network.supernet(new_prefix=_HOST_PREFIX) if network.version == 6 else network.network_address)


def _unmapped(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """Return the IPv4 network that an IPv4-mapped IPv6 network stands for. Return any other network unchanged."""
    if isinstance(network, IPv6Network) and network.prefixlen >= 96 and network.network_address.ipv4_mapped:
        return ip_network((network.network_address.ipv4_mapped, network.prefixlen - 96))
    return network


class Bans:
    """The bans that a node enforces."""

    def __init__(self, lines: Iterable[BanLine] = ()) -> None:
        self.replace(lines)

    def replace(self, lines: Iterable[BanLine]) -> None:
        """Replace all bans with the bans in ``lines``."""
        self.lines = tuple(lines)
        self._players: dict[str, BanLine] = {}
        self._networks: dict[IPv4Network | IPv6Network, BanLine] = {}
        for line in self.lines:
            if PLAYER.fullmatch(line.target):
                self._players[line.target] = line
                continue
            with suppress(ValueError):  # a kind of ban that only a later version knows
                self._networks[ip_network(line.target)] = line
        self._prefixes = {(network.version, network.prefixlen) for network in self._networks}

    def of(self, player: str, address: str, now: int) -> BanLine | None:
        """Return the ban of a player or an address that is in force at ``now``, or None.

        ``player`` is empty before Hello. ``now`` is in milliseconds since 1970.
        """
        lines = [self._players.get(player), *self._of_address(address)]
        return next((line for line in lines if line is not None and (not line.until or now < line.until)), None)

    def _of_address(self, text: str) -> list[BanLine | None]:
        address = parse_address(text)
        networks = [
            ip_network((address, prefix), strict=False)
            for version, prefix in self._prefixes
            if address is not None and version == address.version
        ]
        return [self._networks.get(network) for network in networks]


def ban_sentence(line: BanLine) -> str:
    """Return the sentence that tells a banned player until when the ban lasts, and why."""
    duration = "permanently"
    if line.until:
        duration = f"until {datetime.datetime.fromtimestamp(line.until / 1000, datetime.UTC):%Y-%m-%d %H:%M} UTC"
    return f"You are banned from this server {duration}.{f' Reason: {line.reason}' if line.reason else ''}"

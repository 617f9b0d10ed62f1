"""Who is kept away: players by their ids, and networks of addresses. Pure; the bans themselves are in the store."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from samedeal.errors import MalformedText
from samedeal.protocol.admin import BanLine

_PLAYER: Final = re.compile(r"[0-9a-f]{12}")
_WIDEST: Final = {4: 8, 6: 16}
"""Bits that a banned network has at the least, by the version of its addresses: a slip must not keep everybody away."""


def whom(text: str) -> str:
    """A player's id, an address or a network in its one normal form. Raises MalformedText."""
    given = text.strip().lower()
    if _PLAYER.fullmatch(given):
        return given
    try:
        network = _plain(ip_network(given, strict=False))
    except ValueError:
        raise MalformedText(
            f"{text[:60]!r} is no player and no address: give a player's id, as samedeal admin room shows it, an address, "
            "or a network as in 203.0.113.0/24"
        ) from None
    if network.prefixlen < _WIDEST[network.version]:
        raise MalformedText(f"{network} is too much: a network has at least /{_WIDEST[network.version]}")
    return str(network.network_address) if network.num_addresses == 1 else str(network)


def _plain(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """A network of IPv4 addresses, where it is one that is written as IPv6."""
    if isinstance(network, IPv6Network) and network.prefixlen >= 96 and network.network_address.ipv4_mapped:
        return ip_network((network.network_address.ipv4_mapped, network.prefixlen - 96))
    return network


class Bans:
    """The bans that are in force, or were when they were read."""

    def __init__(self, lines: Iterable[BanLine] = ()) -> None:
        self._players: dict[str, BanLine] = {}
        self._networks: dict[IPv4Network | IPv6Network, BanLine] = {}
        for line in lines:
            if _PLAYER.fullmatch(line.who):
                self._players[line.who] = line
                continue
            with suppress(ValueError):  # what only a later version knows how to ban
                self._networks[ip_network(line.who)] = line
        self._widths = {(network.version, network.prefixlen) for network in self._networks}

    def of(self, player: str, address: str, now: int) -> BanLine | None:
        """What keeps a player, or whoever comes from an address, away at a time; an empty player is not known yet."""
        line = self._players.get(player) or self._of_address(address)
        return line if line is not None and (not line.until or now < line.until) else None

    def _of_address(self, text: str) -> BanLine | None:
        if not self._networks:
            return None
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            return None
        if isinstance(address, IPv6Address):
            address = address.ipv4_mapped or address
        for version, width in self._widths:
            if version == address.version:
                line = self._networks.get(ip_network((address, width), strict=False))
                if line is not None:
                    return line
        return None


def sentence(line: BanLine) -> str:
    """What somebody is told who is kept away."""
    until = "for good"
    if line.until:
        until = f"until {datetime.datetime.fromtimestamp(line.until / 1000, datetime.UTC):%Y-%m-%d %H:%M} UTC"
    return f"You are banned from this server {until}{f': {line.reason}' if line.reason else ''}"

"""IP addresses as texts that may come from anywhere."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

Address = IPv4Address | IPv6Address


def parse_address(text: str) -> Address | None:
    """Return the address that a text stands for, perhaps with a zone, or None.

    An IPv4 address that is written as an IPv6 address counts as IPv4.
    """
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(text: str) -> bool:
    """Return whether a text is an address of the machine itself."""
    return (address := parse_address(text)) is not None and address.is_loopback

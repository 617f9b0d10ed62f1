"""The addresses of a node, and the text that it prints when clients can connect."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from samedeal_server.config.addresses import is_loopback, parse_address
from samedeal_server.config.config import Config
from samedeal_server.page.address import page_address
from samedeal_server.process.listening import ALL_ADDRESSES, is_unspecified, local_host, url_host
from samedeal_server.store.address import RedisAddress

TEST_ADDRESSES: Final = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that are reserved for documentation.

Connecting a datagram socket to such an address sends nothing. It only makes the system choose the local address.
"""


@dataclass(frozen=True)
class ListenAddresses:
    """The addresses of a node: ``local`` for clients on this machine, and ``public`` for all others.

    ``reachable_from_elsewhere`` is false if the public address works only on this machine.
    """

    local: str
    public: str
    reachable_from_elsewhere: bool


def own_address(host: str) -> str:
    """Return the address at which other machines reach this machine, or an empty string if there is none.

    ``host`` must stand for all addresses of this machine, or for all of its IPv4 or IPv6 addresses. If possible, the
    result is an IPv4 address.
    """
    for family in _families(host):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((TEST_ADDRESSES[family], 9))
            return str(probe.getsockname()[0])
    return ""


def _families(host: str) -> tuple[socket.AddressFamily, ...]:
    if host == ALL_ADDRESSES:
        return socket.AF_INET, socket.AF_INET6
    return (socket.AF_INET6,) if ":" in host else (socket.AF_INET,)


def listen_addresses(
    config: Config, port: int, address_of_machine: Callable[[str], str] = own_address
) -> ListenAddresses:
    """Return the addresses of a node that listens on ``port``. Only tests pass ``address_of_machine``."""
    scheme = "ws" if config.tls_cert is None else "wss"
    local = f"{scheme}://{url_host(local_host(config.host))}:{port}"
    if config.public_url:
        return ListenAddresses(local, config.public_url.rstrip("/"), reachable_from_elsewhere=True)
    if is_unspecified(config.host):
        own = address_of_machine(config.host)
        return ListenAddresses(
            local, f"{scheme}://{url_host(own)}:{port}" if own else local, reachable_from_elsewhere=bool(own)
        )
    is_here = config.host == "localhost" or is_loopback(config.host)
    return ListenAddresses(local, local, reachable_from_elsewhere=not is_here)


def banner(config: Config, addresses: ListenAddresses, health_url: str) -> str:
    """Return the text that a node prints when clients can connect."""
    rows = [("race", f"{page_address(addresses.public)} in a browser")] if config.page else []
    rows += [("join", f"samedeal join {addresses.public}"), ("open a room", f"samedeal new {addresses.public}")]
    if addresses.public != addresses.local and config.tls_cert is None:  # a certificate is for the public name
        rows.append(("on this machine", f"samedeal join {addresses.local}"))
    rows.append(("data", str(config.data) if not config.redis else f"in Redis at {RedisAddress.parse(config.redis)}"))
    if health_url:
        rows.append(("health", f"{health_url}/readyz, {health_url}/metrics"))
    width = max(len(label) for label, _ in rows)
    lines = ["Samedeal is ready for players.", "", *(f"  {label:{width}}   {text}" for label, text in rows), ""]
    if not addresses.reachable_from_elsewhere and addresses.public == addresses.local:
        lines.append(
            "Samedeal found no address at which other machines reach this machine. "
            "If there is one, restart with --public-url ws://ADDRESS:PORT."
            if is_unspecified(config.host)
            else "Only this machine can connect. To let others join, restart with --host all."
        )
    if config.tls_cert is not None and not config.public_url:
        lines.append(
            "Players must connect to the name in the certificate. "
            "Use --public-url wss://NAME to print addresses with that name."
        )
    host = parse_address(urlsplit(addresses.public).hostname or "")
    if addresses.public.startswith(("ws://", "http://")) and host is not None and host.is_global:
        lines.append("Connections are not encrypted. Use --tls-cert and --tls-key, or a proxy with TLS.")
    lines.append("Press Ctrl-C to stop. Races in progress continue when you start it again.")
    return "\n".join(lines)

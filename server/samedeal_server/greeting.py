"""What a node says of itself when players can come: how to join, where things are."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from samedeal_server.config import Config
from samedeal_server.listening import written
from samedeal_server.store.address import Address

_SOMEWHERE = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses of nobody; asking for the way to them sends nothing."""


@dataclass(frozen=True)
class Doors:
    """Where players can come in: the address listened on, that to pass on, and whether the latter is good elsewhere."""

    here: str
    share: str
    elsewhere: bool


def doors(config: Config, port: int) -> Doors:
    """Where players can come in at a node that listens on a port."""
    scheme = "ws" if config.tls_cert is None else "wss"
    everywhere = _is(config.host, "is_unspecified")
    here = f"{scheme}://{written(_loopback(config.host) if everywhere else config.host)}:{port}"
    if config.public_url:
        return Doors(here, config.public_url.rstrip("/"), elsewhere=True)
    if everywhere:
        own = _own_address(config.host)
        return Doors(here, f"{scheme}://{written(own)}:{port}" if own else here, elsewhere=bool(own))
    local = config.host == "localhost" or _is(config.host, "is_loopback")
    return Doors(here, here, elsewhere=not local)


def greeting(config: Config, found: Doors, health: str) -> str:
    """The text for a terminal."""
    lines = ["Samedeal takes players.", ""]
    rows = [("join", f"samedeal join {found.share}"), ("open a room", f"samedeal new {found.share}")]
    if found.share != found.here and config.tls_cert is None:  # a certificate is for a name
        rows.append(("on this machine", f"samedeal join {found.here}"))
    rows.append(("data", str(config.data) if not config.redis else f"in Redis at {Address.read(config.redis)}"))
    if health:
        rows.append(("health", f"{health}/readyz, {health}/metrics"))
    width = max(len(label) for label, _ in rows)
    lines += [f"  {label:{width}}   {text}" for label, text in rows]
    lines.append("")
    if not found.elsewhere and found.share == found.here:
        lines.append("Only this machine can reach it; --host 0.0.0.0 lets others in.")
    if config.tls_cert is not None and not config.public_url:
        lines.append("Players come by the name in the certificate: --public-url wss://NAME has it told here.")
    if found.share.startswith(("ws://", "http://")) and _is(urlsplit(found.share).hostname or "", "is_global"):
        lines.append("What is sent can be read on the way: --tls-cert and --tls-key, or a proxy, encrypt it.")
    lines.append("Ctrl-C stops it; races that are under way go on when it is started again.")
    return "\n".join(lines)


def _loopback(host: str) -> str:
    return "::1" if ":" in host else "127.0.0.1"


def _is(host: str, what: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), what))
    except ValueError:
        return host == "" and what == "is_unspecified"


def _own_address(host: str) -> str:
    """This machine's address in its network, of the kind that is listened on; empty without a network."""
    wanted = _SOMEWHERE[:1] if ":" not in host else _SOMEWHERE
    for somewhere, family in wanted:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((somewhere, 9))
            return str(asking.getsockname()[0])
    return ""

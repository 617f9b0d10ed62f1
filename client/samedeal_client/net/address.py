"""Addresses of servers and rooms, in every form in which players pass them on.

::

    localhost                     ws://localhost:7777       a loopback name or address: without TLS
    games.example.org             wss://games.example.org:7777
    [2001:db8::7]:9000            wss://[2001:db8::7]:9000
    ws://192.168.1.5:7777         itself: the way to a server in one's own network that has no TLS
    samedeal://example.org/k7m2qx wss://example.org:7777    and the room k7m2qx; so does example.org/k7m2qx
    https://example.org/r/k7m2qx  wss://example.org         and the room, as a link in a browser has it
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from samedeal.errors import MalformedText
from samedeal.names import clean_room

DEFAULT_PORT: Final = 7777

PASSPHRASE: Final = "SAMEDEAL_PASSPHRASE"  # noqa: S105 (its name, not the word itself)
"""The environment variable for the passphrase of a private room, where arguments can be read by others."""

_FORMS: Final = "write a host, as in example.org or localhost:7777, or a ws://, wss://, samedeal:// or https:// address"
_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True)
class Address:
    """Where a server is, and perhaps which room: ``url`` starts with ``ws://`` or ``wss://``, ``room`` is a room's code."""

    url: str
    room: str | None = None

    @property
    def host(self) -> str:
        """The host alone."""
        return urlsplit(self.url).hostname or ""

    @property
    def encrypted(self) -> bool:
        """Whether the connection is made with TLS."""
        return self.url.startswith("wss://")

    @property
    def typed(self) -> str:
        """The shortest text that parses back to the same URL."""
        bare = self.url.partition("://")[2].removesuffix("/")
        short = bare.removesuffix(f":{DEFAULT_PORT}")
        for text in (short, bare):
            try:
                if parse_address(text) == Address(self.url):
                    return text
            except MalformedText:
                continue
        return self.url


def parse_address(text: str) -> Address:
    """Read an address in any of the forms above. Raises MalformedText with what to write instead."""
    given = text.strip()
    if not given or any(char.isspace() or not char.isprintable() for char in given):
        raise MalformedText(f"{text[:60]!r} is not an address: {_FORMS}")
    scheme, has_scheme, rest = given.partition("://")
    scheme = scheme.lower()
    if not has_scheme:
        return _own(given, _parts(f"//{given}", given))
    parts = _parts(f"//{rest}", given)
    if scheme == "samedeal":
        return _own(given, parts)
    if scheme not in _SCHEMES:
        raise MalformedText(f"{scheme[:20]!r} is not the start of an address: {_FORMS}")
    host, port = _host(parts, given), _port(parts, given)
    where = f"{_SCHEMES[scheme]}://{host}" + (f":{port}" if port is not None else "")
    if scheme in ("ws", "wss"):
        query = f"?{parts.query}" if parts.query else ""
        return Address(f"{where}{parts.path.rstrip('/')}{query}")
    before, link, room = parts.path.partition("/r/")
    if link:
        return Address(where + before, clean_room(room.strip("/")))
    return Address(where + parts.path.rstrip("/"))


def _own(given: str, parts: SplitResult) -> Address:
    host, port = _host(parts, given), _port(parts, given)
    scheme = "ws" if _is_loopback(host) else "wss"
    room = parts.path.strip("/")
    return Address(f"{scheme}://{host}:{port or DEFAULT_PORT}", clean_room(room) if room else None)


def _parts(url: str, given: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise MalformedText(f"{given[:60]!r} is not an address ({error}): {_FORMS}") from None
    if parts.username is not None:
        raise MalformedText("An address holds no user name or password: give your name with --name")
    if parts.fragment:
        raise MalformedText(f"{given[:60]!r} has a '#': a room comes after a slash, as in example.org/k7m2qx")
    return parts


def _host(parts: SplitResult, given: str) -> str:
    host = parts.hostname or ""
    if not host or host.startswith(("-", ".")) or any(char in "\\^|%<>\"'`{}" for char in host):
        raise MalformedText(f"{given[:60]!r} has no host: {_FORMS}")
    if ":" not in host:
        return host
    try:
        return f"[{IPv6Address(host)}]"
    except ValueError:
        raise MalformedText(
            f"{host[:60]!r} is not an IPv6 address: write it in brackets, as in [2001:db8::7]:7777"
        ) from None


def _port(parts: SplitResult, given: str) -> int | None:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise MalformedText(f"{given[:60]!r} has no port from 1 to 65535 after its ':'")
    return port


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_loopback_url(url: str) -> bool:
    """Whether a URL stays on this machine."""
    return _is_loopback(urlsplit(url).hostname or "")

"""Parsing of the addresses of servers and rooms, in every form in which players share them.

::

    localhost                     ws://localhost:7777       a loopback name or address, without TLS
    games.example.org             wss://games.example.org:7777
    [2001:db8::7]:9000            wss://[2001:db8::7]:9000
    ws://192.168.1.5:7777         unchanged, for a server without TLS in your own network
    samedeal://example.org/k7m2qx wss://example.org:7777    with the room k7m2qx; example.org/k7m2qx is the same
    https://example.org/k7m2qx    wss://example.org         with the room k7m2qx, as on the page for browsers
    https://example.org/s/friday  wss://example.org         with the standing series s/friday
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, quote, urlsplit

from samedeal.errors import MalformedText
from samedeal.names import AROUND_LINKS, SERIES, clean_place, clean_room

DEFAULT_PORT: Final = 7777

PASSPHRASE: Final = "SAMEDEAL_PASSPHRASE"  # noqa: S105 (the name of a variable)
"""The environment variable for the passphrase of a private room.

Other users of a machine can read a program's arguments, but not its environment.
"""

_FORMS: Final = (
    "Write a host, as in example.org or localhost:7777, or a ws://, wss://, samedeal:// or https:// address."
)
_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server, perhaps with the code of a room or a standing series.

    ``url`` starts with ``ws://`` or ``wss://``.
    ``certificate`` is empty, or a file with the only certificate to trust, whatever its name.
    """

    url: str
    room: str | None = None
    certificate: str = ""

    @property
    def host(self) -> str:
        """The host without the port."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port in the URL, or the default port of the URL's scheme."""
        return urlsplit(self.url).port or (443 if self.encrypted else 80)

    @property
    def encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return self.url.startswith("wss://")

    def at(self, path: str) -> str:
        """Return the URL with a path added, such as that of a room's home."""
        before, mark, query = self.url.partition("?")
        return f"{before}{path}{mark}{query}"

    def page(self, room: str) -> str:
        """Return the URL at which browsers show the race in ``room``, if the server has the page for browsers."""
        return f"http{self.at(f'/{room}').removeprefix('ws')}"

    @property
    def typed(self) -> str:
        """The shortest text that ``parse_address`` turns into this URL."""
        bare = self.url.partition("://")[2].removesuffix("/")
        short = bare.removesuffix(f":{DEFAULT_PORT}")
        for text in (short, bare):
            try:
                if parse_address(text) == ServerAddress(self.url):
                    return text
            except MalformedText:
                continue
        return self.url


def home_path(room: str, *, watches: bool = False) -> str:
    """Return the path at which a racer in a room connects, or a spectator if ``watches`` is true.

    All racers of a room have the same path, so that they meet on one node. For a rematch, only the server knows it, and
    tells a player who joins. Spectators do not meet. If ``room`` is empty, the path is empty.
    """
    code = room.strip().lower().removeprefix(SERIES)  # a standing series has the home of its first room
    return f"/{'w' if watches else 'r'}/{quote(code, safe='')}" if room else ""


def parse_address(text: str) -> ServerAddress:
    """Parse an address in any of the forms that the docstring of this module lists.

    Raise MalformedText for any other text. The error says what to write instead.
    """
    stripped = text.strip().strip(AROUND_LINKS)
    if not stripped or any(char.isspace() or not char.isprintable() for char in stripped):
        raise MalformedText(f"{text[:60]!r} is not an address. {_FORMS}")
    first, has_scheme, rest = stripped.partition("://")
    parts = _parts(f"//{rest if has_scheme else stripped}", stripped)
    scheme = first.lower() if has_scheme else "samedeal"
    if scheme not in ("samedeal", *_SCHEMES):
        raise MalformedText(f"An address can't start with {scheme[:20]}://. {_FORMS}")
    host, port = _host(parts, stripped), _port(parts, stripped)
    if scheme == "samedeal":
        room = parts.path.strip("/")
        where = f"{'ws' if _is_loopback(host) else 'wss'}://{host}:{port or DEFAULT_PORT}"
        return ServerAddress(where, clean_place(room) if room else None)
    where = f"{_SCHEMES[scheme]}://{host}" + (f":{port}" if port is not None else "")
    if scheme in ("ws", "wss"):
        query = f"?{parts.query}" if parts.query else ""
        return ServerAddress(f"{where}{parts.path.rstrip('/')}{query}")
    before, link, room = parts.path.partition(f"/{SERIES}")
    if link:
        return ServerAddress(where + before, SERIES + clean_room(room.strip("/")))
    before, link, room = parts.path.partition("/r/")
    if not link:
        before, _, room = parts.path.rpartition("/")
        return ServerAddress(where + before.rstrip("/"), clean_room(room) if room else None)
    return ServerAddress(where + before, clean_room(room.strip("/")))


def _parts(url: str, stripped: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise MalformedText(f"{stripped[:60]!r} is not an address ({error}). {_FORMS}") from None
    if parts.username is not None:
        raise MalformedText("An address can't contain a user name or password. Give your name with --name instead.")
    if parts.fragment:
        raise MalformedText(f"{stripped[:60]!r} has a '#'. Write the room after a slash, as in example.org/k7m2qx.")
    return parts


def _host(parts: SplitResult, stripped: str) -> str:
    host = parts.hostname or ""
    if not host or host.startswith(("-", ".")) or any(char in "\\^|%<>\"'`{}" for char in host):
        raise MalformedText(f"{stripped[:60]!r} has no host. {_FORMS}")
    if ":" not in host:
        return host
    try:
        return f"[{IPv6Address(host)}]"
    except ValueError:
        raise MalformedText(
            f"{host[:60]!r} is not an IPv6 address. Write one in brackets, as in [2001:db8::7]:7777."
        ) from None


def _port(parts: SplitResult, stripped: str) -> int | None:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise MalformedText(f"{stripped[:60]!r} has no valid port. Write a number from 1 to 65535 after the colon.")
    return port


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_loopback_url(url: str) -> bool:
    """Return whether the host of a URL is a loopback name or address, which means this machine."""
    return _is_loopback(urlsplit(url).hostname or "")

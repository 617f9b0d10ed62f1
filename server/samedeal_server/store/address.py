"""Addresses of Redis, taken apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from redis.asyncio.connection import parse_url

Host = tuple[str, int]

WRITE: Final = (
    "write redis://HOST:6379/0, rediss://HOST:6379/0 for TLS, unix:///PATH, "
    "sentinel://HOST:26379,HOST:26379/PRIMARY, or cluster://HOST:6379,HOST:6379"
)
_PORTS: Final = {"redis": 6379, "rediss": 6379, "sentinel": 26379, "cluster": 6379}
_SEVERAL: Final = ("sentinel", "cluster")


class BadAddress(ValueError):
    """It is not the address of a Redis; the sentence says what to write, and repeats no password."""


@dataclass(frozen=True)
class Address:
    """An address, taken apart: ``options`` are what redis-py's connections are made with."""

    scheme: str
    hosts: tuple[Host, ...]
    primary: str
    options: dict[str, Any]

    def __str__(self) -> str:
        """Without user and password."""
        if self.scheme == "unix":
            return str(self.options["path"])
        return ", ".join(map(named, self.hosts)) + (f" ({self.primary})" if self.primary else "")

    @classmethod
    def read(cls, url: str) -> Address:
        """Take an address apart. Raises BadAddress."""
        scheme, _, rest = url.partition("://")
        where, mark, rest = _until(rest, "/?#")
        # Several hosts are taken apart here: some Pythons refuse an address of IPv6 among them.
        parts = urlsplit(f"{scheme}://{mark}{rest}")
        login, at, there = where.rpartition("@")
        path, primary = unquote(parts.path).strip("/"), ""
        if parts.scheme == "unix":
            if there or not path:
                raise BadAddress("it has no path that begins at the root: write unix:///PATH")
            return cls(parts.scheme, (), "", _options("unix", f"{login}{at}{parts.path}", parts.query))
        if parts.scheme not in _PORTS:
            raise BadAddress(WRITE)
        hosts = tuple(_host(each, parts.scheme) for each in (there.split(",") if parts.scheme in _SEVERAL else [there]))
        if parts.scheme == "sentinel":
            primary, _, path = path.partition("/")
            if not primary:
                raise BadAddress("it does not name the primary: write sentinel://HOST:26379,HOST:26379/PRIMARY")
        if path and not (path.isascii() and path.isdigit()):
            raise BadAddress(f"what stands after its last / is not the number of a database: {WRITE}")
        if parts.scheme == "cluster" and int(path or 0):
            raise BadAddress("a cluster has only database 0: leave the number out")
        scheme, query = parts.scheme, parse_qsl(parts.query)
        if scheme in _SEVERAL:
            tls = {"ssl": "false", **dict(query)}["ssl"].lower() in ("1", "true", "yes")
            scheme, query = "rediss" if tls else "redis", [each for each in query if each[0] != "ssl"]
        return cls(parts.scheme, hosts, primary, _options(scheme, f"{login}{at}host/{path or 0}", urlencode(query)))


def _options(scheme: str, where: str, query: str) -> dict[str, Any]:
    try:
        options: dict[str, Any] = dict(parse_url(f"{scheme}://{where}?{query}"))
    except ValueError as error:
        raise BadAddress(f"{error}: {WRITE}") from None
    options.pop("host", None)
    return options


def named(host: Host) -> str:
    """A host and its port, as they are written."""
    name, port = host
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _until(text: str, ends: str) -> tuple[str, str, str]:
    """A text in three: up to the first of some characters, that one, and what is behind it."""
    at = min((found for found in map(text.find, ends) if found >= 0), default=len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def _host(text: str, scheme: str) -> Host:
    try:
        parts = urlsplit(f"//{text}")
    except ValueError:
        raise BadAddress(f"its host can't be read: {WRITE}") from None
    try:
        host, port = unquote(parts.hostname or ""), parts.port
    except ValueError:
        # What can't be read is not repeated: it may be part of a password.
        raise BadAddress(
            "a port in it is not a number from 1 to 65535; in a password write / as %2F, # as %23 and ? as %3F"
        ) from None
    if not host or parts.path or port == 0:
        raise BadAddress(f"it has no host: {WRITE}")
    return host, port or _PORTS[scheme]

"""Parsing of Redis addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from redis.asyncio.connection import parse_url

Host = tuple[str, int]

ADDRESS_FORMS: Final = (
    "Write redis://HOST:6379/0, rediss://HOST:6379/0 for TLS, unix:///PATH, "
    "sentinel://HOST:26379,HOST:26379/PRIMARY/0, or cluster://HOST:6379,HOST:6379."
)
_PORTS: Final = {"redis": 6379, "rediss": 6379, "sentinel": 26379, "cluster": 6379}
_SEVERAL: Final = ("sentinel", "cluster")


class InvalidRedisAddress(ValueError):
    """Error of an address that cannot be parsed.

    The message says why, and what to write. No message contains a password.
    """


@dataclass(frozen=True)
class RedisAddress:
    """An address of Redis, as returned by ``RedisAddress.parse``.

    ``options`` holds the arguments with which redis-py opens a connection. ``primary`` is the name under which the
    Sentinels know the primary. It is empty if the address names no Sentinels.
    """

    scheme: str
    hosts: tuple[Host, ...]
    primary: str
    options: dict[str, Any]

    def __str__(self) -> str:
        """Format the address without user and password."""
        if self.scheme == "unix":
            return str(self.options["path"])
        return ", ".join(map(format_host, self.hosts)) + (f" ({self.primary})" if self.primary else "")

    @classmethod
    def parse(cls, url: str) -> RedisAddress:
        """Parse a URL. Raise InvalidRedisAddress if the URL is malformed."""
        scheme, _, rest = url.partition("://")
        authority, mark, rest = _split_at_first(rest, "/?#")
        # Some Python versions reject an IPv6 address among several hosts, so hosts are parsed one by one.
        parts = urlsplit(f"{scheme}://{mark}{rest}")
        login, at_sign, all_hosts = authority.rpartition("@")
        path, primary = unquote(parts.path).strip("/"), ""
        if parts.scheme == "unix":
            if all_hosts or not path:
                raise InvalidRedisAddress("It has no absolute path. Write unix:///PATH.")
            return cls(parts.scheme, (), "", _options("unix", f"{login}{at_sign}{parts.path}", parts.query))
        if parts.scheme not in _PORTS:
            raise InvalidRedisAddress(f"It has no known scheme. {ADDRESS_FORMS}")
        written = all_hosts.split(",") if parts.scheme in _SEVERAL else [all_hosts]
        if len(written) > 1 and "" in written:
            raise InvalidRedisAddress("One of its hosts is empty. Write a host between two commas.")
        hosts = tuple(_host(each, parts.scheme) for each in written)
        if parts.scheme == "sentinel":
            primary, _, path = path.partition("/")
            if not primary:
                raise InvalidRedisAddress(
                    "It does not name the primary. Write sentinel://HOST:26379,HOST:26379/PRIMARY/0."
                )
        if path and not (path.isascii() and path.isdigit()):
            raise InvalidRedisAddress(f"The text after the last / is not a database number. {ADDRESS_FORMS}")
        if parts.scheme == "cluster" and int(path or 0):
            raise InvalidRedisAddress("A cluster has only database 0. Leave out the number after the last /.")
        scheme, query = parts.scheme, parse_qsl(parts.query)
        if scheme in _SEVERAL:
            tls = {"ssl": "false", **dict(query)}["ssl"].lower() in ("1", "true", "yes")
            scheme, query = "rediss" if tls else "redis", [each for each in query if each[0] != "ssl"]
        return cls(
            parts.scheme, hosts, primary, _options(scheme, f"{login}{at_sign}host/{path or 0}", urlencode(query))
        )


def _options(scheme: str, location: str, query: str) -> dict[str, Any]:
    try:
        options: dict[str, Any] = dict(parse_url(f"{scheme}://{location}?{query}"))
    except ValueError as error:
        raise InvalidRedisAddress(
            f"It has an invalid option ({str(error).rstrip('.')}). Correct the option, or remove it."
        ) from None
    options.pop("host", None)
    return options


def format_host(host: Host) -> str:
    """Format a host as ``name:port``."""
    name, port = host
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _split_at_first(text: str, separators: str) -> tuple[str, str, str]:
    """Split a text as ``str.partition`` does, at the first character that is one of ``separators``."""
    index = min((found for found in map(text.find, separators) if found >= 0), default=len(text))
    return text[:index], text[index : index + 1], text[index + 1 :]


_BAD_PORT: Final = (
    "Its port is not a number from 1 to 65535. If the address has a password with / # or ? in it, write them as "
    "%2F, %23 and %3F."
)


def _host(text: str, scheme: str) -> Host:
    try:
        parts = urlsplit(f"//{text}")
    except ValueError:
        raise InvalidRedisAddress(f"The host cannot be read. {ADDRESS_FORMS}") from None
    try:
        host, port = unquote(parts.hostname or ""), parts.port
    except ValueError:
        # The invalid part is not repeated, because it may belong to a password.
        raise InvalidRedisAddress(_BAD_PORT) from None
    if port == 0:
        raise InvalidRedisAddress(_BAD_PORT)
    if not host or parts.path:
        raise InvalidRedisAddress(f"It has no host. {ADDRESS_FORMS}")
    return host, port or _PORTS[scheme]

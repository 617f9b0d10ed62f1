"""The address of the web page, as browsers know it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from samedeal_server.config.config import DEFAULT_PORT

_HOST: Final = re.compile(r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?", re.IGNORECASE)
"""The header Host: a name or an address, and perhaps a port."""

PREFIX: Final = re.compile(r"(?:/[\w.~%-]{1,100}){0,9}/?", re.ASCII)
"""A path below which a proxy serves the page."""


def page_address(public: str) -> str:
    """Return the address of the web page. ``public`` is the public address of the node.

    If ``public`` begins with ``samedeal://``, the page uses TLS, and ``DEFAULT_PORT`` unless ``public`` names a port.
    """
    scheme, _, rest = public.partition("://")
    if scheme == "samedeal" and not urlsplit(public).port:
        rest = f"{rest}:{DEFAULT_PORT}"
    return f"{'http' if scheme in ('ws', 'http') else 'https'}://{rest}"


def requested_address(hosts: list[str], public: str, prefix: str = "", *, encrypted: bool) -> str:
    """Return the address of the page as a browser has requested it, or an empty string if it is not plausible.

    ``hosts`` are the headers Host of the request, and ``prefix`` is the path that a trusted proxy says that it has removed.
    If the headers name the host of ``public``, the public address of the page, return ``public``, because a proxy may have
    removed its port or its path.
    """
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]) or not PREFIX.fullmatch(prefix):
        return ""
    address = f"{'https' if encrypted else 'http'}://{hosts[0].lower()}{prefix.rstrip('/')}"
    return public if public and urlsplit(public).hostname == urlsplit(address).hostname else address

"""The cookie with which a browser comes back to its session after it has deleted what the page stored.

The page sends the token of a session with a POST, and the answer sets the cookie. Only the handshake of a WebSocket reads
it, and only if the page comes from the same host.
"""

from __future__ import annotations

import re
from typing import Final

from websockets.datastructures import Headers

from samedeal_server.store.sessions import SESSION_LIFETIME

_NAME: Final = "samedeal"
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def offered_token(headers: Headers) -> str:
    """Return the token of a session that a page asks the server to keep in a cookie, or an empty string."""
    return _checked("".join(headers.get_all("Samedeal-Session")))


def set_cookie(token: str, prefix: str, *, encrypted: bool) -> str:
    """Return the header that sets the cookie.

    Over plain http it is not ``Secure``: not every browser keeps such a cookie there, not even on this machine.
    """
    secure = " Secure;" if encrypted else ""
    return f"{_NAME}={token}; Path={prefix}/; Max-Age={SESSION_LIFETIME}; HttpOnly;{secure} SameSite=Lax"


def kept_token(headers: Headers) -> str:
    """Return the token that the cookie of a request has, or an empty string."""
    pairs = (pair.strip().partition("=") for pair in "; ".join(headers.get_all("Cookie")).split(";"))
    return next((_checked(value) for name, _, value in pairs if name == _NAME), "")


def _checked(text: str) -> str:
    return text if _TOKEN.fullmatch(text) else ""

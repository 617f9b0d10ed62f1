"""The addresses of hooks: programs outside that a server tells the news of public races."""

from __future__ import annotations

from base64 import b64encode
from typing import Final, NamedTuple, Self
from urllib.parse import unquote, urlsplit

_PLAIN_TEXT: Final = "ntfy+"
"""What comes before the address of a program that takes the text alone instead of JSON."""

_PORTS: Final = {"http": 80, "https": 443}


class HookAddress(NamedTuple):
    """The address of a hook. ``target`` is its path with its query. ``is_text`` says that it takes text instead of JSON.

    ``named_host`` and ``authorization`` are the headers Host and Authorization of requests to it.
    """

    host: str
    named_host: str
    port: int
    is_tls: bool
    target: str
    authorization: str
    is_text: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the address that a text stands for.

        Raise ValueError if it stands for none. The sentence does not repeat the text, because whoever knows the address
        can write there.
        """
        try:
            url = urlsplit(text.removeprefix(_PLAIN_TEXT))
            is_good = url.scheme in _PORTS and bool(url.hostname) and url.port != 0
            is_good = is_good and (len(url.path) > 1 or not text.startswith(_PLAIN_TEXT))  # a topic
        except ValueError:  # brackets or a port that are none
            url, is_good = urlsplit(""), False
        if not (is_good and url.hostname and text.isascii() and text.isprintable() and " " not in text):
            raise ValueError(
                "A hook is the address of a program that takes POST requests. Write it as in https://example.org/path, "
                "or as in ntfy+https://ntfy.sh/topic for ntfy."
            )
        user = f"{unquote(url.username or '')}:{unquote(url.password or '')}" if "@" in url.netloc else ""
        return cls(
            host=url.hostname,
            named_host=url.netloc.rpartition("@")[2],
            port=url.port or _PORTS[url.scheme],
            is_tls=url.scheme == "https",
            target=(url.path or "/") + (f"?{url.query}" if url.query else ""),
            authorization=f"Basic {b64encode(user.encode()).decode()}" if user else "",
            is_text=text.startswith(_PLAIN_TEXT),
        )

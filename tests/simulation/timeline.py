"""The timeline of a world: what happened, a line each, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from websockets.frames import apply_mask  # type: ignore[attr-defined]  # in C if it was compiled

from samedeal.errors import SamedealError
from samedeal.protocol.codec import decode_to_client, decode_to_server
from samedeal.protocol.messages import Ping, Pong

_WIDTH: Final = 160
_BINARY: Final = 0x82
_MASKED: Final = 0x80
_LONG: Final = 126
"""The length of contents that stands for a longer one, which follows."""

_LOGGED: Final = ("debug", "info")
"""Levels of log lines that are not worth a line, apart from changes of races."""


def lines_of(where: str, what: object) -> Iterator[str]:
    """Yield the lines for what happened at a place of the world."""
    sender, arrow, receiver = where.partition(">")
    if not arrow:
        if (text := _logged(str(what)) if where.endswith(" log") else str(what)) is not None:
            yield f"{where:24} {text[:_WIDTH]}"
    elif isinstance(what, str):
        yield f"{sender:>10} > {receiver:11} {'resets the connection' if what == 'reset' else 'has closed the connection'}"
    elif isinstance(what, bytes) and where.count("world") == 1:  # with two, a proxy on the way has it too
        for message in _messages(what):
            yield f"{sender:>10} > {receiver:11} {message[:_WIDTH]}"


def _logged(line: str) -> str | None:
    with suppress(ValueError):
        event = json.loads(line)
        name, level = event.pop("event"), event.pop("level", "")
        if level in _LOGGED and name != "race_changed":
            return None
        fields = {key: value for key, value in event.items() if key not in ("timestamp", "node")}
        return f"{name} {fields}"
    return line.strip()


def _messages(data: bytes) -> Iterator[str]:
    """Yield the messages in WebSocket frames, apart from those that keep a connection alive."""
    is_request = len(data) > 1 and bool(data[1] & _MASKED)
    for payload in payloads(data):
        try:
            message = decode_to_server(payload) if is_request else decode_to_client(payload)
        except (SamedealError, ValueError):
            yield f"{len(payload)} bytes"
        else:
            if not isinstance(message, Ping | Pong):
                yield repr(message)


def payloads(data: bytes) -> Iterator[bytes]:
    """Yield the contents of binary WebSocket frames, and then the rest."""
    while len(data) >= 2 and data[0] == _BINARY:
        size, start = data[1] & ~_MASKED, 2
        if size >= _LONG:
            start = 4 if size == _LONG else 10
            size = int.from_bytes(data[2:start], "big")
        if data[1] & _MASKED:
            mask, start = data[start : start + 4], start + 4
            yield apply_mask(data[start : start + size], mask)
        else:
            yield data[start : start + size]
        data = data[start + size :]
    if data:
        yield data

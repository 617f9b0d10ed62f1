"""Decoding and sanitizing of a server's messages, because players connect to servers that they do not know."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from samedeal.errors import MalformedFrame
from samedeal.protocol.admin import ToOperator
from samedeal.protocol.codec import decode_to_client, decode_to_operator
from samedeal.protocol.messages import ToClient
from samedeal.terminal_text import printable

_MAX_COLUMNS: Final = {"message": 400, "session": 1000, "server": 100, "deal": 100}
"""Maximum widths, in terminal columns, of the fields that may be longer than names and codes."""

_TEXTS: Final = {"proof": 10_000, "terms": 1_000}
"""Maximum widths, in terminal columns, of a line in the fields that may have several lines."""

_MAX_NAME_COLUMNS: Final = 64
_MAX_NUMBER: Final = 1 << 47
"""Maximum of every number. A time of this value, in milliseconds since 1970, is in the year 6429."""


def decode_sanitized(frame: str | bytes) -> ToClient:
    """Decode a server's frame, and make each string in the message one printable line without control characters.

    Only the terms of a race and the proof of a deal may have several such lines. Raise MalformedFrame if the frame is not
    a valid message.
    """
    message: ToClient = _sanitized("", decode_to_client(frame), _MAX_NAME_COLUMNS)
    return message


def decode_operator_sanitized(frame: str | bytes) -> ToOperator:
    """Decode a server's frame to an operator, and sanitize it in the same way as ``decode_sanitized`` does."""
    message: ToOperator = _sanitized("", decode_to_operator(frame), _MAX_COLUMNS["message"])
    return message


def _sanitized(name: str, value: Any, max_columns: int) -> Any:
    if isinstance(value, str) and name in _TEXTS:
        return "\n".join(printable(line, _TEXTS[name]) for line in value.split("\n"))
    if isinstance(value, str):
        return printable(value, _MAX_COLUMNS.get(name, max_columns))
    if isinstance(value, int | float) and not -1 <= value <= _MAX_NUMBER:  # rejects NaN too
        raise MalformedFrame(f"This is not a message of the protocol: {value} is not a valid {name}.")
    if isinstance(value, tuple):
        return tuple(_sanitized(name, each, max_columns) for each in value)
    if isinstance(value, Struct):
        fields = {field: getattr(value, field) for field in value.__struct_fields__}
        changed = {
            field: sanitized
            for field, old in fields.items()
            if (sanitized := _sanitized(field, old, max_columns)) != old
        }
        return replace(value, **changed) if changed else value
    return value

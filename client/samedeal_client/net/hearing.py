"""What a server says, made fit to be shown. Whoever joins a server does not know who runs it."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from samedeal.errors import MalformedFrame
from samedeal.names import printable
from samedeal.protocol.admin import ToOperator
from samedeal.protocol.codec import decode_to_client, decode_to_operator
from samedeal.protocol.messages import ToClient

_WIDEST: Final = {"message": 400, "session": 1000, "server": 100}
"""Columns of the texts that may be longer than names and codes."""

_WIDEST_NAME: Final = 64
_LARGEST: Final = 1 << 47
"""Of all numbers; as a time it is in the year 6429."""


def hear(frame: str | bytes) -> ToClient:
    """Read a server's frame: each text in it can be printed on one line of a terminal and does nothing else there.

    Raises MalformedFrame.
    """
    heard: ToClient = _tamed("", decode_to_client(frame), _WIDEST_NAME)
    return heard


def hear_operator(frame: str | bytes) -> ToOperator:
    """Read what a server says to an operator, as ``hear`` does what it says to players. Raises MalformedFrame."""
    heard: ToOperator = _tamed("", decode_to_operator(frame), _WIDEST["message"])
    return heard


def _tamed(name: str, value: Any, widest: int) -> Any:
    if isinstance(value, str):
        return printable(value, _WIDEST.get(name, widest))
    if isinstance(value, int | float) and not -1 <= value <= _LARGEST:  # nor is NaN
        raise MalformedFrame(f"Not a message of this protocol: {value} is no {name} that can be")
    if isinstance(value, tuple):
        return tuple(_tamed(name, each, widest) for each in value)
    if isinstance(value, Struct):
        fields = {field: getattr(value, field) for field in value.__struct_fields__}
        changed = {field: tamed for field, old in fields.items() if (tamed := _tamed(field, old, widest)) != old}
        return replace(value, **changed) if changed else value
    return value

"""Messages to bytes and back, and values to bytes for keeping: the only user of msgpack."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgpack  # type: ignore[import-untyped]  # it ships no types
import msgspec

from samedeal.errors import BadOptions, MalformedFrame, SamedealError
from samedeal.names import printable
from samedeal.protocol.admin import FromOperator, ToOperator
from samedeal.protocol.messages import ToClient, ToServer

LARGEST_FRAME: Final = 16 * 1024
"""Bytes that a server takes in one frame; no message of a client comes near it."""

_LONGEST_REASON: Final = 160
"""Characters; what was wrong may quote the frame."""

_Value = TypeVar("_Value")


def encode(message: ToServer | ToClient | FromOperator | ToOperator) -> bytes:
    """The frame of a message; fields that have their default value are left out only where the protocol says so."""
    return pack(message)


def decode_to_server(frame: bytes | str) -> ToServer:
    """Read a client's frame.

    Raises MalformedFrame with a sentence for the one who wrote it; UnknownGame, MalformedText (of a deal) or BadOptions for
    a frame that could be read but asks for a room that can't be.
    """
    try:
        # A union is a type form, which mypy can't take as a type.
        return _decode(frame, ToServer, _LIMITS_OF_A_STRANGER)  # type: ignore[arg-type]
    except MalformedFrame as error:
        # A cause is what a message's own check said, as opposed to its types.
        if (said := error.__cause__) is not None:
            raise said.__cause__ if isinstance(said.__cause__, SamedealError) else BadOptions(str(said)) from None
        raise


def decode_to_client(frame: bytes | str) -> ToClient:
    """Read a server's frame. Raises MalformedFrame."""
    return _decode(frame, ToClient)  # type: ignore[arg-type]  # as above


def decode_from_operator(frame: bytes | str) -> FromOperator:
    """Read an operator's frame. Raises MalformedFrame."""
    return _decode(frame, FromOperator, _LIMITS_OF_A_STRANGER)  # type: ignore[arg-type]  # as above


def decode_to_operator(frame: bytes | str) -> ToOperator:
    """Read a server's frame to an operator. Raises MalformedFrame."""
    return _decode(frame, ToOperator)  # type: ignore[arg-type]  # as above


def _decode(frame: bytes | str, kind: type[_Value], limits: dict[str, Any] | None = None) -> _Value:
    if isinstance(frame, str):
        raise MalformedFrame("A message is a binary frame of msgpack; this one was text")
    try:
        return unpack(frame, kind, limits)
    except ValueError as error:
        why = printable(str(error), 4 * LARGEST_FRAME)
        if len(why) > _LONGEST_REASON:
            why = f"{why[: _LONGEST_REASON // 2]}...{why[-_LONGEST_REASON // 2 :]}"
        raise MalformedFrame(f"Not a message of this protocol: {why}") from error.__cause__


def request_id(frame: bytes | str) -> int:
    """The id in a frame that could not be read otherwise, so that the refusal can name it; -1 where there is none."""
    try:
        fields: Any = msgpack.unpackb(frame, **_LIMITS_OF_A_STRANGER) if isinstance(frame, bytes) else None
    except (ValueError, msgpack.UnpackException):
        return -1
    found = fields.get("id") if isinstance(fields, dict) else None
    return found if type(found) is int and 0 <= found < 1 << 53 else -1


_LIMITS: Final[dict[str, Any]] = {
    "raw": False,
    "strict_map_key": True,
    "max_ext_len": 0,
    "max_array_len": 4096,
    "max_map_len": 4096,
}

# Room for a list is made as soon as its length is read, and lists may stand in lists: the longest one that is taken bounds
# what a frame costs that is nothing but such lengths.
_LIMITS_OF_A_STRANGER: Final[dict[str, Any]] = {**_LIMITS, "max_array_len": 256, "max_map_len": 64}


def pack(value: object) -> bytes:
    """A value made of structs, tuples, texts, bytes and numbers as msgpack."""
    packed: bytes = msgpack.packb(msgspec.to_builtins(value, builtin_types=(bytes,)))
    return packed


def unpack(data: bytes, kind: type[_Value], limits: dict[str, Any] | None = None) -> _Value:
    """Read what ``pack`` wrote, checked against its type. Raises ValueError with what is wrong and where."""
    try:
        fields = msgpack.unpackb(data, **(limits or _LIMITS))
    except msgpack.ExtraData:
        raise ValueError("there are bytes after its end") from None
    except (ValueError, msgpack.UnpackException) as error:
        raise ValueError(f"not msgpack as it is used here ({str(error) or type(error).__name__})") from None
    return msgspec.convert(fields, kind, builtin_types=(bytes,))

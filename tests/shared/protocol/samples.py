"""Samples: at least one message of each type, as the golden files have them: its type, its fields, and its frame.

For a new type, write its name and its fields there. ``REGENERATE=1`` writes the frame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # it ships no types
from msgspec import Struct
from msgspec.structs import replace

from samedeal.protocol.admin import FromOperator, ToOperator
from samedeal.protocol.codec import decode_from_operator, decode_to_client, decode_to_operator, decode_to_server, encode
from samedeal.protocol.messages import ToClient, ToServer
from tests.golden.golden_files import HERE
from tests.shared.protocol.strategies import fields_of

DECODERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "to the server": decode_to_server,
    "to the client": decode_to_client,
    "from an operator": decode_from_operator,
    "to an operator": decode_to_operator,
}


class Entry:
    """A message in a golden file of frames."""

    def __init__(self, text: str) -> None:
        heading, fields, *_ = text.splitlines()
        self.name, self.side = heading.removesuffix(")").split(" (")
        self.decode = DECODERS[self.side]
        message = self.decode(msgpack.packb(_parsed(fields)))
        self.message = replace(message, **_defaults_in(message))

    def __str__(self) -> str:
        message = self.message
        return f"{self.name} ({self.side})\n{diagnostic(fields_of(message))}\n{encode(message).hex(' ')}\n"


def entries(name: str) -> list[Entry]:
    """The messages in a golden file."""
    return [Entry(text.strip()) for text in (HERE / name).read_text(encoding="utf-8").split("\n\n")]


def _defaults_in(message: Struct) -> dict[str, Any]:
    """The fields that have their default values, of which an integer may stand for a float."""
    optional = message.__struct_fields__[len(message.__struct_fields__) - len(message.__struct_defaults__) :]
    defaults = zip(optional, message.__struct_defaults__, strict=True)
    return {name: value for name, value in defaults if getattr(message, name) == value}


def diagnostic(value: Any) -> str:
    """A value as JSON, with bytes as ``h'00ff'``."""
    match value:
        case bytes():
            return f"h'{value.hex()}'"
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)}: {diagnostic(inner)}" for key, inner in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(diagnostic, value)) + "]"
        case _:
            return json.dumps(value)


def _parsed(text: str) -> Any:
    """The value that ``diagnostic`` has written."""
    as_json = re.sub(r"h'([0-9a-f]*)'", r'{"bytes": "\1"}', text)
    return json.loads(
        as_json, object_hook=lambda found: bytes.fromhex(found["bytes"]) if [*found] == ["bytes"] else found
    )


SAMPLES: Final[Sequence[ToServer | ToClient]] = tuple(entry.message for entry in entries("frames.txt"))
ADMIN_SAMPLES: Final[Sequence[FromOperator | ToOperator]] = tuple(
    entry.message for entry in entries("admin-frames.txt")
)

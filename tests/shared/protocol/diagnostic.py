"""Frames in a readable notation."""

from __future__ import annotations

import json
from typing import Any


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

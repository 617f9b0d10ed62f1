"""Names of keys for the player: ``Enter``, ``Ctrl+Q``, ``F1``."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal_client.input.bindings import Bindings, KeyCommand

QUIT_KEY: Final = "ctrl+q"

_WORDS: Final = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "delete": "Del"}


@lru_cache(maxsize=256)
def key_text(key: str) -> str:
    """Return the name of a key."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    if len(last) > 1:
        last = _WORDS.get(last, last.capitalize())
    elif modifiers:
        last = last.upper()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), last])


def command_text(bindings: Bindings, command: KeyCommand) -> str:
    """Return the name of the first key of ``command``, or an empty string if the command has no key."""
    keys = bindings.commands[command]
    return key_text(keys[0]) if keys else ""

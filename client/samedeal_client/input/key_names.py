"""Names of keys for the player: ``⏎`` or ``Enter``, ``Ctrl+Q``, ``F1``."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal_client.input.bindings import Bindings, KeyCommand
from samedeal_client.text.appearance import Look

QUIT_KEY: Final = "ctrl+q"

_SIGNS: Final = {"enter": "⏎", "space": "␣", "backspace": "⌫", "escape": "Esc"}
_WORDS: Final = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "delete": "Del"}


@lru_cache(maxsize=256)
def key_text(key: str, look: Look) -> str:
    """Return the name of a key, or a symbol if there is one that the terminal can show."""
    sign = _SIGNS.get(key)
    if sign and not look.ascii:
        return sign
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    if len(last) > 1:
        last = _WORDS.get(last, last.capitalize())
    elif modifiers:
        last = last.upper()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), last])


def key_sign(key: str, look: Look) -> str:
    """Return the shortest name of a key, such as ``^Q`` for Ctrl+Q."""
    before, _, last = key.rpartition("+")
    return f"^{last.upper()}" if before == "ctrl" and len(last) == 1 else key_text(key, look)


def command_text(bindings: Bindings, command: KeyCommand, look: Look) -> str:
    """Return the name of the first key of ``command``, or an empty string if the command has no key."""
    keys = bindings.commands[command]
    return key_text(keys[0], look) if keys else ""

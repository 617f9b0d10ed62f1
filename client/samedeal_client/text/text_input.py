"""Editing of a one-line text whose cursor is always at its end."""

from __future__ import annotations

from typing import Final

from samedeal.terminal_text import columns_of

MAX_LENGTH: Final = 128


def after_key(text: str, key: str, max_length: int = MAX_LENGTH) -> str | None:
    """The text after a key press: a character, or a name such as ``backspace``. None if the key does not edit."""
    if key in ("backspace", "ctrl+h"):
        return text[:-1]
    if key == "ctrl+u":
        return ""
    if key == "ctrl+w":
        return text.rstrip().rpartition(" ")[0]
    if len(key) == 1 and key.isprintable():
        return (text + key)[:max_length]
    return None


def after_paste(text: str, addition: str, max_length: int = MAX_LENGTH) -> str:
    """The text after pasting. Only the printable characters of the first pasted line are added."""
    line = addition.strip().partition("\n")[0]
    return (text + "".join(char for char in line if char.isprintable()))[:max_length]


def tail(text: str, width: int) -> str:
    """Return as much of the end of ``text`` as fits into ``width`` columns."""
    while columns_of(text) > width:
        text = text[1:]
    return text

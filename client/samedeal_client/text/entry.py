"""A line that is typed at its end, pure."""

from __future__ import annotations

from typing import Final

from samedeal.names import columns_of

MOST: Final = 128


def typed(text: str, key: str, most: int = MOST) -> str | None:
    """The text after a key, a character or the name of one as ``backspace``; None where the key types nothing."""
    if key in ("backspace", "ctrl+h"):
        return text[:-1]
    if key == "ctrl+u":
        return ""
    if key == "ctrl+w":
        return text.rstrip().rpartition(" ")[0]
    if len(key) == 1 and key.isprintable():
        return (text + key)[:most]
    return None


def pasted(text: str, more: str, most: int = MOST) -> str:
    """The text with the printable part of the first line of what was pasted."""
    line = more.strip().partition("\n")[0]
    return (text + "".join(char for char in line if char.isprintable()))[:most]


def end_of(text: str, width: int) -> str:
    """As much of the end of a text as fits."""
    while columns_of(text) > width:
        text = text[1:]
    return text

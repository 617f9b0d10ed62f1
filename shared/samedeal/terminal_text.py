"""Functions that make text from other people safe for a terminal, and measure its width."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_SAFE: Final = frozenset(
    ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So")
)
MARKS: Final = frozenset(("Mn", "Mc"))
MOST_MARKS: Final = 3
"""Maximum number of combining marks in a row.

It is enough for Hindi and Tibetan, but not for reaching into other lines.
"""
_BLANK: Final = frozenset("\u034f\u115f\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Invisible characters that Unicode counts as letters, marks or symbols."""
_UNSTEADY: Final = (
    range(0x1160, 0x1200),  # parts of Korean syllables that normalization left apart
    range(0xD7B0, 0xD800),
    range(0xFE00, 0xFE10),  # variation selectors
    range(0xE0100, 0xE01F0),
    range(0x1F3FB, 0x1F400),  # skin tones
)
"""Characters that change the width of adjacent characters, but only on some terminals."""


@lru_cache(maxsize=4096)
def columns_of(text: str) -> int:
    """Return the width of a text in terminal columns. A wide character counts as two, and a combining mark as none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(char) in MARKS else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text
    )


def printable(text: str, widest: int = 500) -> str:
    """Return a text from somebody else in a form that is safe in one line of a terminal.

    Unsafe characters become ``?``, and the text is cut at ``widest`` columns. The result has no character that moves
    the cursor, changes the writing direction, is invisible, or reaches into other lines. Text that is safe and fits is
    returned unchanged.
    """
    if len(text) <= widest and text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    room, marks = widest, 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in MARKS else 0
        if not is_safe(char) or marks > MOST_MARKS or (marks and not shown):
            char, marks = "?", 0
        if columns_of(char) > room:
            while shown and room < 1:
                room += columns_of(shown.pop())
            return "".join(shown) + "…"
        room -= columns_of(char)
        shown.append(char)
    return "".join(shown)


def is_safe(char: str) -> bool:
    """Return whether a terminal shows a character without moving, hiding or reordering anything."""
    category = unicodedata.category(char)
    known = category in _SAFE or category in MARKS or char == " "
    return known and char not in _BLANK and not any(ord(char) in codes for codes in _UNSTEADY)


def normalized(text: str) -> str:
    """Return a text in Unicode's NFC, with single spaces between its words and no spaces around them."""
    return unicodedata.normalize("NFC", " ".join(word for word in text.split(" ") if word))

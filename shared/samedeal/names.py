"""Names and other text that reaches somebody's terminal: what may be in them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

from samedeal.errors import MalformedText

WIDEST_NAME: Final = 20
ROOM_CODE: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?")

_SAFE: Final = frozenset(
    ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So")
)
_MARKS: Final = frozenset(("Mn", "Mc"))
_MOST_MARKS: Final = 3
"""In a row: what Hindi and Tibetan words need, and too few to reach into the lines above and below."""
_BLANK: Final = frozenset("\u034f\u115f\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Fillers and joiners that pass for letters, marks or symbols and show nothing."""
_UNSTEADY: Final = (
    range(0x1160, 0x1200),  # parts of Korean syllables that normalization left apart
    range(0xD7B0, 0xD800),
    range(0xFE00, 0xFE10),  # variation selectors
    range(0xE0100, 0xE01F0),
    range(0x1F3FB, 0x1F400),  # skin tones
)
"""What changes the width of its neighbours on some terminals and not on others."""


@lru_cache(maxsize=4096)
def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(char) in _MARKS else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text
    )


def printable(text: str, widest: int = 500) -> str:
    """A stranger's text made fit for a line of a terminal: what may do more than stand there is ``?``, the rest is cut.

    ``widest`` is in columns. Nothing is left that moves the cursor, turns the writing around, hides, or reaches into other
    lines; a text that is fit and fits comes back as it is.
    """
    if len(text) <= widest and text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    room, marks = widest, 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in _MARKS else 0
        if not _is_safe(char) or marks > _MOST_MARKS or (marks and not shown):
            char, marks = "?", 0
        if columns_of(char) > room:
            while shown and room < 1:
                room += columns_of(shown.pop())
            return "".join(shown) + "…"
        room -= columns_of(char)
        shown.append(char)
    return "".join(shown)


def _is_safe(char: str) -> bool:
    category = unicodedata.category(char)
    known = category in _SAFE or category in _MARKS or char == " "
    return known and char not in _BLANK and not any(ord(char) in codes for codes in _UNSTEADY)


def clean_name(text: str) -> str:
    """A player's name in its one normal form.

    Raises MalformedText when it is empty, wider than 20 columns, or holds anything but letters, digits, marks,
    punctuation, symbols and single spaces: no control characters, escapes, bidirectional overrides, invisible or
    zero-width characters.
    """
    name = unicodedata.normalize("NFC", " ".join(word for word in text.split(" ") if word))
    if not name:
        raise MalformedText("A name can't be empty: give at least one letter, digit or sign")
    marks = 0
    for before, char in pairwise(f" {name}"):
        if not _is_safe(char):
            raise MalformedText(f"A name can't hold U+{ord(char):04X}: use letters, digits, punctuation and spaces")
        marks = marks + 1 if unicodedata.category(char) in _MARKS else 0
        if marks and before == " ":
            raise MalformedText(f"A combining mark (U+{ord(char):04X}) in a name needs a letter before it")
        if marks > _MOST_MARKS:
            raise MalformedText(f"A name can't pile more than {_MOST_MARKS} combining marks on one letter")
    if columns_of(name) > WIDEST_NAME:
        raise MalformedText(f"A name can't be wider than {WIDEST_NAME} columns: this one takes {columns_of(name)}")
    return name


def clean_room(text: str) -> str:
    """A room's code in its one normal form, lower case. Raises MalformedText."""
    code = text.strip().lower()
    if not ROOM_CODE.fullmatch(code):
        raise MalformedText(
            f"{text[:30]!r} is not a room: its code is 1 to 24 letters, digits and inner dashes, as in friday or k7m2qx"
        )
    return code

"""Names and other text that reaches somebody's terminal: what may be in them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from samedeal.errors import MalformedText

WIDEST_NAME: Final = 20
ROOM_CODE: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?")

_SAFE: Final = frozenset(
    ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "So")
)
_MARKS: Final = frozenset(("Mn", "Mc"))
_MOST_MARKS: Final = 2


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for combining marks."""
    return sum(
        0 if unicodedata.category(char) in _MARKS else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text
    )


def clean_name(text: str) -> str:
    """A player's name in its one normal form.

    Raises MalformedText when it is empty, wider than 20 columns, or holds anything but letters, digits, marks, punctuation,
    symbols and single spaces: no control characters, escapes, bidirectional overrides or zero-width characters.
    """
    name = unicodedata.normalize("NFC", " ".join(text.split(" ")).strip(" "))
    if not name:
        raise MalformedText("A name can't be empty: give one with at least one letter")
    marks = 0
    for char in name:
        category = unicodedata.category(char)
        marks = marks + 1 if category in _MARKS else 0
        if not (category in _SAFE or char == " " or (category in _MARKS and marks <= _MOST_MARKS)):
            raise MalformedText(f"A name can't hold U+{ord(char):04X}: use letters, digits, punctuation and spaces")
    if unicodedata.category(name[0]) in _MARKS:
        raise MalformedText("A name can't begin with a combining mark")
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

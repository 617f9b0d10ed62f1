"""Makes text from other people safe for a terminal, and validates names and room codes."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

from samedeal.errors import MalformedText

WIDEST_NAME: Final = 20
LONGEST_NAME: Final = 80
"""Maximum length of a player's name, in bytes of UTF-8. Combining marks have no width."""

RESERVED_WORDS: Final = ("admin", "host", "moderator", "operator", "samedeal", "server")
"""Words with which a player's name would look like the server, its operator or the host of a room."""

ROOM_CODE: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?")

_SAFE: Final = frozenset(
    ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So")
)
_MARKS: Final = frozenset(("Mn", "Mc"))
_MOST_MARKS: Final = 3
"""Maximum number of combining marks in a row: enough for Hindi and Tibetan, too few to reach into other lines."""
_BLANK: Final = frozenset("\u034f\u115f\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Invisible characters in the categories of letters, marks and symbols."""
_UNSTEADY: Final = (
    range(0x1160, 0x1200),  # parts of Korean syllables that normalization left apart
    range(0xD7B0, 0xD800),
    range(0xFE00, 0xFE10),  # variation selectors
    range(0xE0100, 0xE01F0),
    range(0x1F3FB, 0x1F400),  # skin tones
)
"""Characters that change the width of their neighbours, but only on some terminals."""


@lru_cache(maxsize=4096)
def columns_of(text: str) -> int:
    """Return the width of ``text`` in terminal columns: two for a wide character, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(char) in _MARKS else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text
    )


def printable(text: str, widest: int = 500) -> str:
    """Return untrusted text in a form that is safe in one line of a terminal.

    Unsafe characters become ``?``, and the text is cut at ``widest`` columns. The result holds nothing that moves the
    cursor, changes the writing direction, is invisible, or reaches into other lines. Text that is safe and fits is returned
    unchanged.
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


_EMOJI_STYLE: Final = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Characters that choose the style of an emoji. Terminals disagree about their width."""

_EMOJI: Final = "[\u2600-\u27bf\U0001f000-\U0001faff]"
_EMOJI_JOINER: Final = re.compile(f"(?<={_EMOJI})\u200d(?={_EMOJI})")


def normalized(text: str) -> str:
    """Text in Unicode's NFC, with single spaces between its words and none around them."""
    return unicodedata.normalize("NFC", " ".join(word for word in text.split(" ") if word))


def clean_name(text: str) -> str:
    """Return a player's name in its normal form: NFC, without surrounding spaces, and with single spaces inside.

    Emoji lose their skin tones and variation selectors, and emoji that are joined become several.

    Raises MalformedText if the name is empty, is wider than 20 columns or longer than 80 bytes, or holds anything other than
    letters, digits, marks, punctuation, symbols and spaces. That rejects control characters, bidirectional overrides, and
    invisible characters.
    """
    name = normalized(_EMOJI_JOINER.sub("", _EMOJI_STYLE.sub("", text)))
    if not name:
        raise MalformedText("A name can't be empty. Use at least one letter, digit or punctuation mark.")
    marks = 0
    for before, char in pairwise(f" {name}"):
        if not _is_safe(char):
            raise MalformedText(f"A name can't hold U+{ord(char):04X}. Use letters, digits, punctuation and spaces.")
        marks = marks + 1 if unicodedata.category(char) in _MARKS else 0
        if marks and before == " ":
            raise MalformedText(f"The combining mark U+{ord(char):04X} has no letter before it. Put one there.")
        if marks > _MOST_MARKS:
            raise MalformedText(f"A name can't hold more than {_MOST_MARKS} combining marks in a row. Leave some out.")
    if columns_of(name) > WIDEST_NAME:
        raise MalformedText(f"A name can't be wider than {WIDEST_NAME} columns. This one takes {columns_of(name)}.")
    if len(name.encode()) > LONGEST_NAME:
        raise MalformedText(f"A name can't be longer than {LONGEST_NAME} bytes. Leave out some letters or marks.")
    return name


def clean_room(text: str) -> str:
    """Return a room's code in its normal form: lower case, without spaces around it.

    Raises MalformedText if ``text`` is not a room code.
    """
    code = text.strip(" ").lower()
    if not text.isascii() or not ROOM_CODE.fullmatch(code):
        raise MalformedText(
            f"{text[:30]!r} is not a room code. Use 1 to 24 letters, digits and dashes, with no dash at either end, "
            "as in friday or k7m2qx."
        )
    return code

"""Validation of players' names and of room codes."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

from samedeal.errors import MalformedText
from samedeal.terminal_text import MARKS, MOST_MARKS, columns_of, is_safe, normalized

WIDEST_NAME: Final = 20
LONGEST_NAME: Final = 80
"""Maximum length of a player's name, in bytes of UTF-8.

A limit on the width is not enough, as combining marks have no width.
"""

RESERVED_WORDS: Final = ("admin", "host", "moderator", "operator", "samedeal", "server")
"""Words that a server does not allow in a player's name.

Other players could take such a name for that of the server, its operator or a host. ``clean_name`` allows these words.
"""

HOUSE_NAMES: Final = (
    *("Basil", "Biscuit", "Button", "Clover", "Copper", "Cricket", "Domino", "Fennel", "Ginger", "Juniper", "Lantern"),
    *("Marble", "Muffin", "Nutmeg", "Pebble", "Pepper", "Pickle", "Plum", "Sorrel", "Thimble", "Toffee", "Tulip"),
    *("Walnut", "Widget"),
)
"""The names of the bots of the house, which nobody else may have."""

REMOVED: Final = "removed by server"
"""What replaces a name that was removed, with the number of the seat. No player has such a name: it is reserved."""

ROOM_CODE: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?")

SERIES: Final = "s/"
"""What stands before the code of a standing series, in links and where players write it."""

AROUND_LINKS: Final = " <>()\"'.,;!?"
"""Characters that people and programs leave around a link, which belong to no address."""

_EMOJI_STYLE: Final = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Characters that select the style of an emoji. Terminals disagree about their width."""

_EMOJI: Final = "[\u2600-\u27bf\U0001f000-\U0001faff]"
_EMOJI_JOINER: Final = re.compile(f"(?<={_EMOJI})\u200d(?={_EMOJI})")


def clean_name(text: str) -> str:
    """Return a player's name in its normal form: NFC, without surrounding spaces, and with single spaces inside.

    Emoji lose their skin tones and variation selectors, and joined emoji are separated. Raise MalformedText if the name
    is empty, is wider than 20 columns, is longer than 80 bytes, or has a character that is not safe in a terminal
    (``is_safe``). Also raise it if a word begins with a combining mark, or has more than three of them in a row.
    """
    name = normalized(_EMOJI_JOINER.sub("", _EMOJI_STYLE.sub("", text)))
    if not name:
        raise MalformedText("A name can't be empty. Use at least one letter, digit or punctuation mark.")
    marks = 0
    for before, char in pairwise(f" {name}"):
        if not is_safe(char):
            raise MalformedText(
                f"The name contains a character that is not allowed (U+{ord(char):04X}). "
                "Use letters, digits, punctuation and spaces."
            )
        marks = marks + 1 if unicodedata.category(char) in MARKS else 0
        if marks and before == " ":
            raise MalformedText(f"The combining mark U+{ord(char):04X} has no letter before it. Put one there.")
        if marks > MOST_MARKS:
            raise MalformedText(f"A name can't have more than {MOST_MARKS} combining marks in a row. Leave some out.")
    if columns_of(name) > WIDEST_NAME:
        raise MalformedText(
            f"A name can be at most {WIDEST_NAME} characters wide. This one is {columns_of(name)} wide."
        )
    if len(name.encode()) > LONGEST_NAME:
        raise MalformedText(f"A name can't be longer than {LONGEST_NAME} bytes. Leave out some letters or marks.")
    return name


def removed_name(seat: int) -> str:
    """Return what is shown instead of the name of the player with this seat, once that name was removed."""
    return f"{REMOVED} {seat}"


def is_removed(name: str) -> bool:
    """Return whether a text replaces a name that was removed."""
    return name.startswith(f"{REMOVED} ")


def clean_room(text: str) -> str:
    """Return a room's code in its normal form: lower case, without surrounding spaces.

    Raise MalformedText if the text is not a room code.
    """
    code = text.strip(" ").lower()
    if not text.isascii() or not ROOM_CODE.fullmatch(code):
        problem = f"{text[:30]!r} is not a room code" if code else "A room code can't be empty"
        raise MalformedText(
            f"{problem}. Use 1 to 24 letters, digits and dashes, with no dash at either end, as in friday or k7m2qx."
        )
    return code


def clean_place(text: str) -> str:
    """Return the code of a room or a standing series, such as ``s/friday``, in its normal form.

    Raise MalformedText if the text is neither.
    """
    code = text.strip(" ").lower()
    return SERIES + clean_room(code.removeprefix(SERIES)) if code.startswith(SERIES) else clean_room(text)

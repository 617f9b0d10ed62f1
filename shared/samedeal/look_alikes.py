"""Names that look alike, as defined by Unicode Technical Standard 39 (UTS 39). Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from samedeal.data_files import read_data
from samedeal.names import HOUSE_NAMES

# The library for this, confusable-homoglyphs, was last released in January 2024. It reads 900 kB of JSON when it is
# imported, and has no function for the skeletons of UTS 39. Only characters that look like ASCII matter here.
_LOOK_LIKE: Final = read_data("samedeal", "look_alikes.toml", dict[str, str])
"""For each ASCII letter or digit, the characters that look like it."""

_ASCII_LOOK_LIKE: Final = {"0": "O", "1": "l", "I": "l", "|": "l", "m": "rn"}

_PROTOTYPES: Final = str.maketrans(
    {char: _ASCII_LOOK_LIKE.get(letter, letter) for letter, chars in _LOOK_LIKE.items() for char in chars}
    | _ASCII_LOOK_LIKE
)


def look_alike(name: str, other: str) -> bool:
    """Return whether a player could mistake one name for the other. Case, spaces and punctuation make no difference."""
    return any(one == two for one, two in zip(skeletons(name), skeletons(other), strict=True))


def is_house_name(name: str) -> bool:
    """Return whether a name looks like that of a bot of the house, also with a mark such as ``(bot)``."""
    return any(_unmarked(skeleton) in _HOUSE for skeleton in skeletons(name))


def _unmarked(skeleton: str) -> str:
    """Return a skeleton without a mark of bots, and with one letter for ``i`` and ``l``: a capital ``i`` may be either."""
    return re.sub("^bot|bot$", "", "".join(char for char in skeleton if char.isalnum()).replace("i", "l"))


def skeletons(name: str) -> tuple[str, str]:
    """Return two skeletons of a name: one of the name as written, and one of the name in lower case.

    A skeleton is the name with each character replaced by a simple character that looks like it. Two names look alike
    if they share a skeleton. ``IRIS`` looks like ``lRlS`` as written, and like ``iris`` in lower case.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    return (
        _without_punctuation(decomposed.translate(_PROTOTYPES).casefold()),
        _without_punctuation(decomposed.casefold().translate(_PROTOTYPES)),
    )


def _without_punctuation(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] not in "PZ") or text


_HOUSE: Final = frozenset(_unmarked(skeletons(name)[1]) for name in HOUSE_NAMES)

"""Words that an operator or every server does not allow in the names of players and rooms. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from samedeal.look_alikes import is_house_name, skeletons
from samedeal.names import RESERVED_WORDS
from samedeal.sentences import refused

LONGEST_LIST: Final = 12_000
"""Maximum length of a list of words, in bytes of UTF-8. It must fit into one message."""

_LONGEST: Final = 40
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_SPELLED: Final = re.compile(r"(?<![^\W_])([^\W_])[\W_]+(?=[^\W_](?![^\W_]))")
"""What separates single letters, as in ``n a m e`` and ``n.a.m.e``."""

_DIGITS: Final = str.maketrans("013457@$!", "oieastasi")
"""The letters for which players write digits and signs."""

Phrase = tuple[tuple[str, str], ...]
"""Words in a row, each with its two skeletons."""


class ForbiddenWords:
    """The words of an operator. A name is forbidden if it has one of them as a whole word, or a word that looks like one.

    A list has a word in each line, or several words that are forbidden in a row. A ``#`` begins a comment. Raise
    RequestRefused ``bad_words`` with the first wrong line of ``text``.
    """

    def __init__(self, text: str = "") -> None:
        self._phrases: set[tuple[str, ...]] = set()
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].strip()
            if len(words) > _LONGEST:
                raise refused("bad_words", line=number, reason=f"it has more than {_LONGEST} characters. Shorten it.")
            if words and len("".join(_WORD.findall(words))) < 2:
                raise refused("bad_words", line=number, reason="it has less than two letters. Write a whole word.")
            self._phrases.update(_readings(_words(words)) if words else ())
        self._lengths = {len(phrase) - 1 for phrase in self._phrases}

    def forbids(self, name: str) -> bool:
        """Return whether a name is forbidden."""
        plain = unicodedata.normalize("NFKC", name)
        bare = "".join(each for each in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(each))
        written = {plain, bare, _SPELLED.sub(r"\1", bare)}
        return any(
            phrase in self._phrases
            for text in written | {each.translate(_DIGITS) for each in written}
            for words in (_words(text),)
            for length in self._lengths
            for first in range(len(words) - length + 1)
            for phrase in _readings(words[first : first + length])
        )


def _words(text: str) -> Phrase:
    return tuple(map(skeletons, _WORD.findall(unicodedata.normalize("NFKC", text))))


def _readings(words: Phrase) -> Iterator[tuple[str, ...]]:
    """Yield words as written, and in lower case. The first element says which, since only like ones look alike."""
    for kind in (0, 1):
        yield (str(kind), *(word[kind] for word in words))


RESERVED: Final = ForbiddenWords("\n".join(RESERVED_WORDS))
"""The words that no server allows in the name of a player."""


def check_not_reserved(name: str) -> None:
    """Raise RequestRefused if a player's name is reserved for the house or for those who run the server."""
    if is_house_name(name):
        raise refused("house_name", name=name)
    if RESERVED.forbids(name):
        raise refused("reserved_name", name=name)

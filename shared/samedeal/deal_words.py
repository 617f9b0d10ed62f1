"""The words of a deal: four words that are the same for all players who race on the same cards.

Players who talk to each other can compare them. For a joint deal they follow from the commitment of the server and the
shares of all players. Nobody knows all shares before all are committed, so nobody can look for two deals with the same
words. DEALS.md, *The words of a deal*, says what they prove.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

_LABEL: Final = b"samedeal words v1\n"
_WORDS: Final = 4
_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"


def deal_words(commitment: bytes, shares: Iterable[tuple[int, bytes]] = ()) -> str:
    """Return the words of a deal, such as ``lusab babad gutih tugad``.

    ``commitment`` is that of the server. ``shares`` are those of a joint deal, each with the number of its seat, the
    lowest first. Every word has 16 bits: three consonants of four bits, and two vowels of two bits between them.
    """
    digest = sha256(_LABEL + commitment + b"".join(bytes([seat]) + share for seat, share in shares)).digest()
    return " ".join(_word(int.from_bytes(digest[2 * at : 2 * at + 2])) for at in range(_WORDS))


def _word(bits: int) -> str:
    consonants = [_CONSONANTS[bits >> place & 15] for place in (12, 6, 0)]
    vowels = [_VOWELS[bits >> place & 3] for place in (10, 4)]
    return "".join((consonants[0], vowels[0], consonants[1], vowels[1], consonants[2]))

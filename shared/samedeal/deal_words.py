"""The words of a deal and of a result: four words that are the same for all players who saw the same.

Players who talk to each other can compare them. The words of a deal follow from the terms of the race, the commitment of
the server, and the shares of all players with their hashes. Nobody knows all shares before all are committed, so nobody
can look for two joint deals with the same words. The words of a result follow from the record of the race. DEALS.md, *The
words*, says what they prove.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

_LABEL: Final = b"samedeal words 2\n"
_RESULT_LABEL: Final = b"samedeal result words 1\n"
_WORDS: Final = 4
_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"


def deal_words(terms: bytes, commitment: bytes, shares: Iterable[tuple[int, bytes, bytes]] = ()) -> str:
    """Return the words of a deal, such as ``lusab babad gutih tugad``.

    ``terms`` is the digest of the race's terms, and ``commitment`` that of the server. ``shares`` are those of a joint
    deal, each with its seat and the hash that its player sent before, the lowest seat first.
    """
    drawn = b"".join(bytes([seat]) + promise + share for seat, promise, share in shares)
    return _words(sha256(_LABEL + terms + commitment + drawn).digest())


def result_words(digest: bytes) -> str:
    """Return the words of a result. ``digest`` is that of the record of the whole race (``Record.digest``)."""
    return _words(sha256(_RESULT_LABEL + digest).digest())


def _words(digest: bytes) -> str:
    """Return four words. Each has 16 bits: three consonants of four bits, and two vowels of two bits between them."""
    return " ".join(_word(int.from_bytes(digest[2 * at : 2 * at + 2])) for at in range(_WORDS))


def _word(bits: int) -> str:
    consonants = [_CONSONANTS[bits >> place & 15] for place in (12, 6, 0)]
    vowels = [_VOWELS[bits >> place & 3] for place in (10, 4)]
    return "".join((consonants[0], vowels[0], consonants[1], vowels[1], consonants[2]))

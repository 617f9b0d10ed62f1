"""The words of a deal: four words that are the same for all players who race on the same cards.

Players who talk to each other can compare them. For a joint deal they follow from the commitment of the server and the
shares of all players. Nobody knows all shares before all are committed, so nobody can look for two deals with the same
words. If several rooms share a deal, the words follow from all of them. DEALS.md, *The words of a deal*, says what they
prove.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

_LABEL: Final = b"samedeal words v1\n"
_TIDE_LABEL: Final = b"samedeal tide words v1\n"
_WORDS: Final = 4
_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"


def words_digest(commitment: bytes, shares: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the hash of all shares of a room, from which its words follow. The arguments are as in ``deal_words``."""
    return sha256(_LABEL + commitment + b"".join(bytes([seat]) + share for seat, share in shares)).digest()


def deal_words(
    commitment: bytes,
    shares: Iterable[tuple[int, bytes]] = (),
    room: str = "",
    others: Mapping[str, bytes] | None = None,
) -> str:
    """Return the words of a deal, such as ``lusab babad gutih tugad``.

    ``commitment`` is that of the server. ``shares`` are those of a joint deal, each with the number of its seat, the
    lowest first. If other rooms share the deal, ``others`` has the ``words_digest`` of each by its code, and ``room`` is
    the code of this one. Every word has 16 bits: three consonants of four bits, and two vowels of two bits between them.
    """
    digest = words_digest(commitment, shares)
    if others:
        rooms = sorted({**others, room: digest}.items())
        digest = sha256(_TIDE_LABEL + b"".join(f"{code}\n".encode() + each for code, each in rooms)).digest()
    return " ".join(_word(int.from_bytes(digest[2 * at : 2 * at + 2])) for at in range(_WORDS))


def _word(bits: int) -> str:
    consonants = [_CONSONANTS[bits >> place & 15] for place in (12, 6, 0)]
    vowels = [_VOWELS[bits >> place & 3] for place in (10, 4)]
    return "".join((consonants[0], vowels[0], consonants[1], vowels[1], consonants[2]))

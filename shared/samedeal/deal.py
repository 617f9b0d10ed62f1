"""Deals: seeds, and the order of cards that a seed produces. DEALS.md specifies both byte by byte.

The order is a Fisher-Yates shuffle driven by SHAKE-256 of the seed. Rejection sampling keeps the shuffle unbiased. A
random deal has a secret seed of 256 bits. Before the race, the server publishes a hash of the terms and the seed
(``commitment``). The seed of a numbered deal is computed from its number. ``samedeal.joint_deal`` has the seeds and the
shuffle of winnable and daily deals.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from samedeal.cards import DECK, Card
from samedeal.errors import BadArgument, MalformedText
from samedeal.utc_text import is_date

SEED_BYTES: Final = 32
HIGHEST_NUMBER: Final = 999_999_999
HIGHEST_MICROSOFT: Final = 9_999_999

Difficulty = Literal["", "easy", "medium", "hard"]
"""The difficulty of a winnable deal. An empty text stands for any difficulty."""

DIFFICULTIES: Final[tuple[Difficulty, ...]] = ("easy", "medium", "hard")

_ORDER_LABEL: Final = b"samedeal order v1\n"
_SEED_LABEL: Final = b"samedeal seed v1\n"
_MICROSOFT_SEED: Final = re.compile(rb"ms ([0-9]{1,7})\0+")
_COMMITMENT_LABEL: Final = b"samedeal commitment 3\n"

_MICROSOFT_NAME: Final = re.compile("ms ([0-9]{1,9})")
_MIX: Final = re.compile("[0-9a-f]{64}")


def shuffled(seed: bytes, decks: int) -> bytes:
    """Return the cards in the order that a seed produces. The first card is dealt first.

    Raise ValueError if ``seed`` is not 32 bytes long or ``decks`` is neither 1 nor 2.
    """
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed is {SEED_BYTES} bytes, not {len(seed)}")
    if decks not in (1, 2):
        raise ValueError(f"one or two decks are shuffled, not {decks}")
    if decks == 1 and (found := _MICROSOFT_SEED.fullmatch(seed)):
        return _microsoft_order(int(found[1]))
    return shuffle(_stream(_ORDER_LABEL + bytes([decks]) + seed), decks)


def _microsoft_order(number: int) -> bytes:
    """Return the cards in the order in which Microsoft's program deals a numbered game."""
    left = [Card.of(rank, suit) for rank in range(1, 14) for suit in range(4)]
    order = bytearray()
    while left:
        number = (214013 * number + 2531011) % (1 << 31)
        at = (number >> 16) % len(left)
        left[at], left[-1] = left[-1], left[at]
        order.append(left.pop())
    return bytes(order)


def shuffle(stream: Iterator[int], decks: int) -> bytes:
    """Shuffle ``decks`` decks into one, and return its cards. The bytes of ``stream`` are the random numbers."""
    cards = bytearray(DECK * decks)
    for last in range(len(cards) - 1, 0, -1):
        choices = last + 1
        fair = 256 - 256 % choices
        byte = next(stream)
        while byte >= fair:
            byte = next(stream)
        other = byte % choices
        cards[last], cards[other] = cards[other], cards[last]
    return bytes(cards)


def _stream(text: bytes) -> Iterator[int]:
    """Yield the bytes of SHAKE-256 of ``text``, without end."""
    shake = hashlib.shake_256(text)
    start, end = 0, 512
    while True:
        yield from shake.digest(end)[start:]
        start, end = end, 2 * end


def commitment(terms: bytes, secret: bytes) -> bytes:
    """Return the hash by which a server commits itself to a deal when it opens a room, 32 bytes.

    ``terms`` is the digest of the race's terms. ``secret`` is the seed of a random or numbered deal, the server's secret
    for a joint deal, and the mix of another public deal.
    """
    return hashlib.sha256(_COMMITMENT_LABEL + terms + secret).digest()


@dataclass(frozen=True)
class Deal:
    """The kind of a deal, with its number, date or difficulty if it has one.

    ``str`` writes the text that ``parse`` reads. The text is ``winnable`` or, for example, ``winnable easy`` (a joint
    deal of all players), ``random`` (a secret seed), ``#4821`` (a public number), ``ms 617`` (a number of Microsoft's
    program) or ``daily 2026-11-21`` (a public deal that can be won). A daily deal without a date is written ``daily``,
    and ``on`` sets its date. ``again`` and 64 digits is a joint deal of an earlier race, which is dealt again: the digits
    are its mix.
    """

    kind: Literal["winnable", "random", "number", "ms", "daily", "again"]
    number: int = 0
    date: str = ""
    difficulty: Difficulty = ""
    mix: str = ""

    @classmethod
    def parse(cls, text: str) -> Deal:
        """Return the deal that a text stands for. Raise MalformedText if it stands for none.

        Valid texts are, for example, ``winnable``, ``winnable easy``, ``random``, ``#4821``, ``4821``, ``daily`` and
        ``daily 2026-11-21``. Case, surrounding spaces and leading zeros are ignored.
        """
        words = text.strip().lower().split()
        digits = words[0].removeprefix("#") if len(words) == 1 else ""
        if words == ["random"]:
            return cls("random")
        for difficulty in ("", *DIFFICULTIES):
            if words == f"winnable {difficulty}".split():
                return cls("winnable", difficulty=difficulty)
        if digits.isascii() and digits.isdigit() and len(digits) <= 9:
            return cls("number", number=int(digits))
        if (found := _MICROSOFT_NAME.fullmatch(" ".join(words))) and 1 <= int(found[1]) <= HIGHEST_MICROSOFT:
            return cls("ms", number=int(found[1]))
        if words[:1] == ["daily"] and len(words) <= 2 and all(is_date(date) for date in words[1:]):
            return cls("daily", date="".join(words[1:]))
        if words[:1] == ["again"] and len(words) == 2 and _MIX.fullmatch(words[1]):
            return cls("again", mix=words[1])
        raise MalformedText(
            f"{text[:40]!r} is not a deal. Write 'winnable', 'winnable easy' (or medium or hard), 'random', "
            f"a number from 0 to {HIGHEST_NUMBER} as in '#4821', 'ms 617' (Microsoft's), or 'daily', "
            "perhaps with a date as in 'daily 2026-11-21'."
        )

    def __str__(self) -> str:
        if self.kind == "number":
            return f"#{self.number}"
        if self.kind == "ms":
            return f"ms {self.number}"
        return " ".join(filter(None, (self.kind, self.date, self.difficulty, self.mix)))

    @property
    def successor(self) -> Deal:
        """The deal of the rematch: the next number, or a deal of the same kind. ``Options.successor`` explains it."""
        if self.kind == "number":
            return Deal("number", number=self.number + 1 if self.number < HIGHEST_NUMBER else 0)
        if self.kind == "ms":
            return Deal("ms", number=self.number % HIGHEST_MICROSOFT + 1)
        return Deal("winnable") if self.public else self

    @property
    def public(self) -> bool:
        """Whether anybody can compute the cards before the race. This is true for all but winnable and random deals."""
        return self.kind in ("number", "ms", "daily", "again")

    @property
    def has_proof(self) -> bool:
        """Whether the deal can be won and gets a proof of how it was found.

        This is true for winnable and daily deals, and for those that are dealt again.
        """
        return self.kind in ("winnable", "daily", "again")

    def on(self, date: str) -> Deal:
        """Return this deal, with ``date`` added if it is a daily deal without a date.

        The form of ``date`` is ``YYYY-MM-DD``. Raise MalformedText if the date is needed and is not valid.
        """
        return Deal.parse(f"daily {date}") if self.kind == "daily" and not self.date else self

    def public_seed(self) -> bytes:
        """Return the seed of a numbered deal. Raise BadArgument for any other deal."""
        if self.kind == "ms":
            return str(self).encode("ascii").ljust(SEED_BYTES, b"\0")
        if self.kind != "number":
            raise BadArgument(f"Not everybody knows the cards of the deal '{self}'. Use a number such as '#7'.")
        return hashlib.sha256(_SEED_LABEL + str(self).encode("ascii")).digest()

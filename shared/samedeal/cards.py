"""Cards and piles of them, one byte a card.

A card is a small number: the suit in bits 4-5 (clubs, diamonds, hearts, spades), the rank in bits 0-3 (ace 1 to king
13). Two more bits say how it lies::

    0x40  face down
    0x80  face down and never seen on this board; always together with 0x40

A card whose face the reader may not know is ``HIDDEN``: both bits and no rank. A pile is ``bytes``, the deepest card
first and the top one last (ruling R2), so that lifting, joining and masking a pile are slices, sums and one
translation.
"""

from __future__ import annotations

from typing import Final

from samedeal.errors import MalformedText

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")

DOWN: Final = 0x40
UNSEEN: Final = 0xC0
HIDDEN: Final = 0xC0
FACE: Final = 0x3F


class Card(int):
    """One card lying face up, ``Card.parse("TH")``; prints as the text it is parsed from (ruling R11)."""

    __slots__ = ()

    @classmethod
    def of(cls, rank: int, suit: int) -> Card:
        """The card of a rank (ace 1 to king 13) and a suit (an index into ``SUITS``)."""
        return cls(suit << 4 | rank)

    @classmethod
    def parse(cls, text: str) -> Card:
        """Read ``rank suit`` such as ``TH``, in either case, or ``10H``. Raises MalformedText."""
        short = text.upper().replace("10", "T", 1)
        if not text.isascii() or len(short) != 2 or short[0] not in RANKS or short[1] not in SUITS:
            raise MalformedText(
                f"{text[:20]!r} is not a card: write a rank (A 2-9 T J Q K) and a suit (C D H S), as TH"
            )
        return cls.of(RANKS.index(short[0]) + 1, SUITS.index(short[1]))

    @property
    def rank(self) -> int:
        """Ace 1 to king 13."""
        return self & 0x0F

    @property
    def suit(self) -> int:
        """An index into ``SUITS``."""
        return self >> 4 & 3

    @property
    def red(self) -> bool:
        """Whether it is a diamond or a heart."""
        return self.suit in (1, 2)

    def __str__(self) -> str:
        return RANKS[self.rank - 1] + SUITS[self.suit]

    def __repr__(self) -> str:
        return f"Card.parse({str(self)!r})"


DECK: Final = bytes(Card.of(rank, suit) for suit in range(4) for rank in range(1, 14))
"""The 52 cards in the order of a new deck: clubs, diamonds, hearts, spades, each from the ace to the king."""

ACE_OF_HEARTS: Final = Card.parse("AH")

TURN_UP: Final = bytes(code & FACE for code in range(256))
TURN_DOWN: Final = bytes(code & FACE | DOWN for code in range(256))
HIDE: Final = bytes(HIDDEN if code >= UNSEEN else code for code in range(256))
"""The translation of a pile into what its player may see of it."""


def lying_text(code: int) -> str:
    """A card as it lies: ``TH`` up, ``(TH)`` down but seen before, ``[TH]`` never seen, ``??`` not to be known."""
    if code == HIDDEN:
        return "??"
    card = str(Card(code & FACE))
    if code >= UNSEEN:
        return f"[{card}]"
    return f"({card})" if code & DOWN else card


def parse_lying(text: str) -> int:
    """Read what ``lying_text`` writes. Raises MalformedText."""
    if text == "??":
        return HIDDEN
    if text[:1] == "[" and text[-1:] == "]":
        return Card.parse(text[1:-1]) | UNSEEN
    if text[:1] == "(" and text[-1:] == ")":
        return Card.parse(text[1:-1]) | DOWN
    return int(Card.parse(text))


def pile_text(pile: bytes) -> str:
    """A pile from its deepest card to its top; a rising run of three or more face-up cards of a suit as ``AS-5S``."""
    words: list[str] = []
    start = 0
    while start < len(pile):
        end = start + 1
        while end < len(pile) and pile[end] == pile[end - 1] + 1 and pile[start] < DOWN:
            end += 1
        if end - start >= 3:
            words.append(f"{Card(pile[start])}-{Card(pile[end - 1])}")
        else:
            words.extend(lying_text(code) for code in pile[start:end])
        start = end
    return " ".join(words)


def parse_pile(text: str) -> bytes:
    """Read what ``pile_text`` writes. Raises MalformedText."""
    pile = bytearray()
    for word in text.split():
        first, dash, last = word.partition("-")
        if dash:
            low, high = Card.parse(first), Card.parse(last)
            if low.suit != high.suit or low > high:
                raise MalformedText(f"{word[:20]!r} is not a rising run of one suit, as in AS-5S")
            pile.extend(range(low, high + 1))
        else:
            pile.append(parse_lying(word))
    return bytes(pile)

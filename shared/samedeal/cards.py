"""Cards and piles, one byte per card.

A card is a small number: bits 4-5 have the suit (clubs, diamonds, hearts, spades), bits 0-3 the rank (ace 1 to king
13). Two more bits say how the card lies::

    0x40  face down
    0x80  never seen on this board; always together with 0x40

``HIDDEN`` stands for a card whose face the reader may not know: both bits, and no rank or suit. A pile is ``bytes``,
the deepest card first and the top card last (RULES.md, ruling R2). Taking cards off a pile is a slice, and masking a
pile is one ``bytes.translate``.
"""

from __future__ import annotations

from typing import Final

from samedeal.errors import MalformedText

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
SYMBOLS: Final = "♣♦♥♠"
"""The characters of the suits, in their order, in sentences and on screens."""

DOWN: Final = 0x40
UNSEEN: Final = 0xC0
HIDDEN: Final = 0xC0
FACE: Final = 0x3F


class Card(int):
    """A card, such as ``Card.parse("TH")``, or a byte of a pile, which also says how the card lies: ``Card(pile[-1])``.

    The text is ``TH`` for a card that lies face up (RULES.md, ruling R11), ``(TH)`` for one that lies face down but was
    seen before, ``[TH]`` for one that was never seen, and ``??`` for ``HIDDEN``.
    """

    __slots__ = ()

    @classmethod
    def of(cls, rank: int, suit: int) -> Card:
        """Return the card with a rank (ace 1 to king 13) and a suit (an index into ``SUITS``)."""
        return cls(suit << 4 | rank)

    @classmethod
    def parse(cls, text: str) -> Card:
        """Return the card that a text names, such as ``TH``, ``th`` or ``10H``, face up.

        Raise MalformedText for any other text.
        """
        short = text.upper().replace("10", "T", 1)
        if not text.isascii() or len(short) != 2 or short[0] not in RANKS or short[1] not in SUITS:
            raise MalformedText(
                f"{text[:20]!r} is not a card. Write a rank (A 2-9 T J Q K) and a suit (C D H S), as in TH."
            )
        return cls.of(RANKS.index(short[0]) + 1, SUITS.index(short[1]))

    @property
    def rank(self) -> int:
        """The rank, from 1 for an ace to 13 for a king. That of ``HIDDEN`` is 0."""
        return self & 0x0F

    @property
    def suit(self) -> int:
        """The suit, as an index into ``SUITS``."""
        return self >> 4 & 3

    @property
    def red(self) -> bool:
        """Whether the card is a diamond or a heart."""
        return self.suit in (1, 2)

    @property
    def face_up(self) -> bool:
        """Whether the card lies face up."""
        return self < DOWN

    @property
    def hidden(self) -> bool:
        """Whether the reader may not know which card this is."""
        return self == HIDDEN

    @property
    def symbol(self) -> str:
        """The face as people read it, such as ``10♥``."""
        return RANKS[self.rank - 1].replace("T", "10") + SYMBOLS[self.suit]

    def __str__(self) -> str:
        if self.hidden:
            return "??"
        card = RANKS[self.rank - 1] + SUITS[self.suit]
        return card if self.face_up else f"[{card}]" if self >= UNSEEN else f"({card})"

    def __repr__(self) -> str:
        return f"Card.parse({str(self)!r})" if self.face_up else f"Card({int(self):#04x})"


_SUITS_LEFT: Final = {1: (3, 3, 3, 3), 2: (3, 2, 2, 3), 4: (0, 1, 2, 3)}

DECK: Final = bytes(Card.of(rank, suit) for suit in range(4) for rank in range(1, 14))
"""The 52 cards in the order of a new deck: clubs, diamonds, hearts, spades, each from the ace to the king."""

IN_SUITS: Final[dict[int, bytes]] = {
    suits: bytes(code & ~0x30 | _SUITS_LEFT[suits][code >> 4 & 3] << 4 for code in range(256)) for suits in _SUITS_LEFT
}
"""For each number of suits, the ``bytes.translate`` table that gives a card the suit with which a game replaces its own.

In a game of two suits, clubs become spades, and diamonds become hearts. In a game of one suit, all cards are spades.
"""

ACE_OF_HEARTS: Final = Card.parse("AH")

TURN_UP: Final = bytes(code & FACE for code in range(256))
TURN_DOWN: Final = bytes(code & FACE | DOWN for code in range(256))
HIDE: Final = bytes(HIDDEN if code >= UNSEEN else code for code in range(256))
"""The ``bytes.translate`` table that masks a pile: it hides the cards that the player has not seen."""


def parse_lying(text: str) -> Card:
    """Return the card for a text that ``str`` has written. Raise MalformedText if the text is not a card."""
    if text == "??":
        return Card(HIDDEN)
    if text[:1] == "[" and text[-1:] == "]":
        return Card(Card.parse(text[1:-1]) | UNSEEN)
    if text[:1] == "(" and text[-1:] == ")":
        return Card(Card.parse(text[1:-1]) | DOWN)
    return Card.parse(text)


def pile_text(pile: bytes) -> str:
    """Return the text of a pile, from the deepest card to the top card.

    Three or more face-up cards of one suit that rise by one are written as a run, such as ``AS-5S``.
    """
    words: list[str] = []
    start = 0
    while start < len(pile):
        end = start + 1
        while end < len(pile) and pile[end] == pile[end - 1] + 1 and pile[start] < DOWN:
            end += 1
        if end - start >= 3:
            words.append(f"{Card(pile[start])}-{Card(pile[end - 1])}")
        else:
            words.extend(str(Card(code)) for code in pile[start:end])
        start = end
    return " ".join(words)


def parse_pile(text: str) -> bytes:
    """Return the pile for a text that ``pile_text`` has written.

    Raise MalformedText if a word is not a card or a run.
    """
    pile = bytearray()
    for word in text.split():
        first, dash, last = word.partition("-")
        if dash:
            low, high = Card.parse(first), Card.parse(last)
            if low.suit != high.suit or low > high:
                raise MalformedText(
                    f"{word[:20]!r} is not a rising run of one suit. Write its lowest and its highest card, as in AS-5S."
                )
            pile.extend(range(low, high + 1))
        else:
            pile.append(parse_lying(word))
    return bytes(pile)

"""The policies of piles: the rules that a game chooses from, each a member of an enum with a row in a table.

The value of a member is the policy in words. Files of games (``samedeal/games/``) use these words, and so do sentences
for players.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from samedeal.cards import ACE_OF_HEARTS, DECK, Card


class Kind(StrEnum):
    """The kinds of piles. The value is the word for the kind in sentences."""

    COLUMN = "column"
    FAN = "fan"
    RESERVE = "reserve"
    CELL = "cell"
    FOUNDATION = "foundation"
    STOCK = "stock"
    WASTE = "waste"


class Faces(StrEnum):
    """The ways in which the cards of a pile lie when they are dealt.

    With ``DOWN_UP``, the deepest card lies face down, the next one face up, and so on.
    """

    UP = "up"
    DOWN_UP = "down, up, down, up"
    TOP_UP = "only the top card up"
    FIVE_UP = "the top five cards up"
    DOWN = "down"


class Build(StrEnum):
    """The rules for which cards may be put on a card. The value ends the sentence "A column builds ..."."""

    NONE = "not at all"
    DOWN_ALTERNATING = "down by one in alternating colours"
    DOWN_ANY_SUIT = "down by one in any suit"
    DOWN_SAME_SUIT = "down by one in the same suit"
    SAME_RANK = "with cards of the same rank"
    UP_SAME_SUIT = "up by one in the same suit"
    UP_AROUND = "up by one in any suit, an ace after a king"


class Base(StrEnum):
    """The rules for which cards may be put on an empty pile.

    The value ends the sentence "An empty column takes ...".
    """

    NOTHING = "nothing"
    ANY = "any card"
    KING = "only a king"
    ACE = "only an ace"
    ACE_OF_HEARTS = "only the ace of hearts"
    COMPLETE_SUIT = "only a complete suit"


class Lift(StrEnum):
    """The rules for which top cards may be taken off a pile together (RULES.md, ruling R3)."""

    NOTHING = "nothing"
    TOP = "the top card"
    ALTERNATING_RUN = "runs in alternating colours"
    SUIT_RUN = "runs in the same suit"
    ANY_SUIT_RUN = "runs in any suit"
    FREE_ALTERNATING_RUN = "runs in alternating colours, as free places allow"
    FREE_SUIT_RUN = "runs in the same suit, as free places allow"
    ANY = "any face-up cards"


def _table(fits: Callable[[Card, Card], bool]) -> tuple[bytes, ...]:
    """Return the cards that fit on each card, indexed by the byte of the card below.

    ``fits`` gets a card and the card below. No card fits on a face-down card.
    """
    deck = [Card(code) for code in DECK]
    rows = {under: bytes(card for card in deck if fits(card, under)) for under in deck}
    return tuple(rows.get(Card(code), b"") for code in range(256))


ON: Final[dict[Build, tuple[bytes, ...]]] = {
    Build.NONE: _table(lambda card, under: False),
    Build.DOWN_ALTERNATING: _table(lambda card, under: card.rank == under.rank - 1 and card.red != under.red),
    Build.DOWN_ANY_SUIT: _table(lambda card, under: card.rank == under.rank - 1),
    Build.DOWN_SAME_SUIT: _table(lambda card, under: card.rank == under.rank - 1 and card.suit == under.suit),
    Build.SAME_RANK: _table(lambda card, under: card.rank == under.rank),
    Build.UP_SAME_SUIT: _table(lambda card, under: card.rank == under.rank + 1 and card.suit == under.suit),
    Build.UP_AROUND: _table(lambda card, under: card.rank == under.rank % 13 + 1),
}

ON_EMPTY: Final[dict[Base, bytes]] = {
    Base.NOTHING: b"",
    Base.ANY: DECK,
    Base.KING: bytes(code for code in DECK if Card(code).rank == 13),
    Base.ACE: bytes(code for code in DECK if Card(code).rank == 1),
    Base.ACE_OF_HEARTS: bytes([ACE_OF_HEARTS]),
    Base.COMPLETE_SUIT: bytes(code for code in DECK if Card(code).rank == 13),
}

TAKEN_TOGETHER: Final[dict[Base, int]] = {base: 13 if base is Base.COMPLETE_SUIT else 1 for base in Base}
"""The number of cards that a foundation takes in one move."""

IS_DEALT_DOWN: Final[dict[Faces, Callable[[int, int], bool]]] = {
    Faces.UP: lambda depth, size: False,
    Faces.DOWN_UP: lambda depth, size: depth % 2 == 0,
    Faces.TOP_UP: lambda depth, size: depth < size - 1,
    Faces.FIVE_UP: lambda depth, size: depth < size - 5,
    Faces.DOWN: lambda depth, size: True,
}
"""Whether a card is dealt face down, by the number of cards below it and the number of cards that the pile gets."""


def is_dealt_down(faces: Faces | tuple[int, ...], at: int, depth: int, size: int) -> bool:
    """Return whether the card on ``depth`` others is dealt face down, in a pile that gets ``size`` cards.

    ``at`` is the place of the pile in its row, for which ``faces`` may have the number of face-down cards.
    """
    return IS_DEALT_DOWN[faces](depth, size) if isinstance(faces, Faces) else depth < faces[at]


RUN: Final[dict[Lift, tuple[bytes, ...]]] = {
    Lift.NOTHING: ON[Build.NONE],
    Lift.TOP: ON[Build.NONE],
    Lift.ALTERNATING_RUN: ON[Build.DOWN_ALTERNATING],
    Lift.SUIT_RUN: ON[Build.DOWN_SAME_SUIT],
    Lift.ANY_SUIT_RUN: ON[Build.DOWN_ANY_SUIT],
    Lift.FREE_ALTERNATING_RUN: ON[Build.DOWN_ALTERNATING],
    Lift.FREE_SUIT_RUN: ON[Build.DOWN_SAME_SUIT],
    Lift.ANY: _table(lambda card, under: True),
}

AS_FREE_PLACES_ALLOW: Final = (Lift.FREE_ALTERNATING_RUN, Lift.FREE_SUIT_RUN)
"""The lifts with which a player moves no more cards together than one by one by way of free cells and empty columns."""

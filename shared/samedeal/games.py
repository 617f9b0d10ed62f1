"""The five games as data: which piles a game has, what may lie on what, and what may be lifted.

A game is one value, a tuple of pile groups. A new game is a new value here; a new rule is one member of ``Build``,
``Base`` or ``Lift`` and one row of the table behind it. The sources are the rule texts of the five games and the
rulings (R1-R29) named beside each value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Final

from samedeal.cards import ACE_OF_HEARTS, DECK, Card
from samedeal.errors import UnknownGame


class Kind(Enum):
    """What a pile is; the value is the word for it in sentences."""

    COLUMN = "column"
    FAN = "fan"
    RESERVE = "reserve"
    FOUNDATION = "foundation"
    STOCK = "stock"
    WASTE = "waste"


class Faces(Enum):
    """How the cards of a pile lie after the deal, from the deepest card."""

    UP = "up"
    DOWN_UP = "down, up, down, up"
    DOWN = "down"


class Build(Enum):
    """What may be put on a card; the value ends the sentence "a column builds ..."."""

    NONE = "not at all"
    DOWN_ALTERNATING = "down by one in alternating colours"
    DOWN_ANY_SUIT = "down by one in any suit"
    DOWN_SAME_SUIT = "down by one in the same suit"
    SAME_RANK = "with cards of the same rank"
    UP_SAME_SUIT = "up by one in the same suit"
    UP_AROUND = "up by one in any suit, an ace after a king"


class Base(Enum):
    """What may be put on an empty pile; the value ends the sentence "an empty column takes ..."."""

    NOTHING = "nothing"
    ANY = "any card"
    KING = "only a king"
    ACE = "only an ace"
    ACE_OF_HEARTS = "only the ace of hearts"


class Lift(Enum):
    """How many cards from the top of a pile may be lifted together (ruling R3)."""

    NOTHING = "nothing can be taken from it"
    TOP = "only its top card can be taken"
    ALTERNATING_RUN = "a group must run down by one in alternating colours"
    SUIT_RUN = "a group must run down by one in the same suit"
    ANY = "any number of its face-up cards can be taken"


class Stock(Enum):
    """What the stock does for its player."""

    NONE = "there is no stock"
    DRAW_THREE = "three cards are drawn to the waste"
    DEAL_ROW = "one card is dealt to each column"


def _table(fits: Callable[[Card, Card], bool]) -> tuple[bytes, ...]:
    """For each of the 256 codes, the cards that fit on it; nothing fits on a code that is no card lying face up."""
    deck = [Card(code) for code in DECK]
    rows = {under: bytes(card for card in deck if fits(card, under)) for under in deck}
    return tuple(rows.get(Card(code), b"") for code in range(256))


_ON: Final[dict[Build, tuple[bytes, ...]]] = {
    Build.NONE: _table(lambda card, under: False),
    Build.DOWN_ALTERNATING: _table(lambda card, under: card.rank == under.rank - 1 and card.red != under.red),
    Build.DOWN_ANY_SUIT: _table(lambda card, under: card.rank == under.rank - 1),
    Build.DOWN_SAME_SUIT: _table(lambda card, under: card.rank == under.rank - 1 and card.suit == under.suit),
    Build.SAME_RANK: _table(lambda card, under: card.rank == under.rank),
    Build.UP_SAME_SUIT: _table(lambda card, under: card.rank == under.rank + 1 and card.suit == under.suit),
    Build.UP_AROUND: _table(lambda card, under: card.rank == under.rank % 13 + 1),
}

_ON_EMPTY: Final[dict[Base, bytes]] = {
    Base.NOTHING: b"",
    Base.ANY: DECK,
    Base.KING: bytes(code for code in DECK if Card(code).rank == 13),
    Base.ACE: bytes(code for code in DECK if Card(code).rank == 1),
    Base.ACE_OF_HEARTS: bytes([ACE_OF_HEARTS]),
}

_RUN: Final[dict[Lift, tuple[bytes, ...]]] = {
    Lift.NOTHING: _ON[Build.NONE],
    Lift.TOP: _ON[Build.NONE],
    Lift.ALTERNATING_RUN: _ON[Build.DOWN_ALTERNATING],
    Lift.SUIT_RUN: _ON[Build.DOWN_SAME_SUIT],
    Lift.ANY: _table(lambda card, under: True),
}


@dataclass(frozen=True)
class Group:
    """Piles of one kind that share their rules, left to right.

    ``keys`` name the piles as a player types them, ``sizes`` say how many cards each is dealt.
    """

    kind: Kind
    keys: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    faces: Faces = Faces.UP
    build: Build = Build.NONE
    base: Base = Base.NOTHING
    lift: Lift = Lift.TOP

    @cached_property
    def on(self) -> tuple[bytes, ...]:
        """The cards that may be put on a card, by its code."""
        return _ON[self.build]

    @cached_property
    def on_empty(self) -> bytes:
        """The cards that may be put on an empty pile."""
        return _ON_EMPTY[self.base]

    @cached_property
    def run(self) -> tuple[bytes, ...]:
        """The cards that may lie on a card, by its code, within a group that is lifted together."""
        return _RUN[self.lift]

    @cached_property
    def gives(self) -> bool:
        """Whether a card can be taken from it at all."""
        return self.lift is not Lift.NOTHING


@dataclass(frozen=True)
class Game:
    """One patience game. ``name`` is what is typed, ``title`` what is shown; compared and printed by name.

    The piles of a board lie in the order of ``groups``; the properties below are positions in that order.
    """

    name: str
    title: str
    decks: int = field(compare=False)
    groups: tuple[Group, ...] = field(compare=False, repr=False)
    stock: Stock = field(compare=False)

    @classmethod
    def named(cls, name: str) -> Game:
        """The game of this name. Raises UnknownGame."""
        try:
            return GAMES[name]
        except KeyError:
            raise UnknownGame(f"{name[:40]!r} is not a game: choose one of {', '.join(GAMES)}") from None

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Game.named({self.name!r})"

    @cached_property
    def cards(self) -> int:
        """How many cards are in play."""
        return 52 * self.decks

    @cached_property
    def piles(self) -> tuple[Group, ...]:
        """The group of each pile."""
        return tuple(group for group in self.groups for _ in group.keys)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The name of each pile."""
        return tuple(key for group in self.groups for key in group.keys)

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each pile by its name."""
        return {key: at for at, key in enumerate(self.keys)}

    def of_kind(self, kind: Kind) -> range:
        """The positions of the piles of a kind; they are neighbours."""
        places = [at for at, group in enumerate(self.piles) if group.kind is kind]
        return range(places[0], places[-1] + 1) if places else range(0)

    @cached_property
    def columns(self) -> range:
        """The positions of the columns."""
        return self.of_kind(Kind.COLUMN)

    @cached_property
    def foundations(self) -> range:
        """The positions of the foundations."""
        return self.of_kind(Kind.FOUNDATION)

    @cached_property
    def fans(self) -> range:
        """The positions of the fans."""
        return self.of_kind(Kind.FAN)

    @cached_property
    def stock_at(self) -> int:
        """The position of the stock, or -1."""
        return next(iter(self.of_kind(Kind.STOCK)), -1)

    @cached_property
    def waste_at(self) -> int:
        """The position of the waste, or -1."""
        return next(iter(self.of_kind(Kind.WASTE)), -1)

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """The positions of the piles that cards can be taken from, foundations last."""
        given = [at for at, group in enumerate(self.piles) if group.gives]
        return tuple(sorted(given, key=lambda at: at in self.foundations))


def _columns(
    count: int, sizes: tuple[int, ...], build: Build, base: Base, lift: Lift, faces: Faces = Faces.UP
) -> Group:
    keys = tuple(str(number) for number in range(1, count + 1))
    return Group(Kind.COLUMN, keys, sizes, faces, build, base, lift)


def _foundations(count: int, build: Build, base: Base, lift: Lift = Lift.NOTHING) -> Group:
    keys = tuple(f"0{number}" for number in range(1, count + 1))
    return Group(Kind.FOUNDATION, keys, (0,) * count, build=build, base=base, lift=lift)


_STOCK: Final = Group(Kind.STOCK, ("stock",), faces=Faces.DOWN, lift=Lift.NOTHING)
_WASTE: Final = Group(Kind.WASTE, ("w",), (0,))
_TRIANGLE: Final = (1, 2, 3, 4, 5, 6, 7)

ATHENA: Final = Game(
    name="athena",
    title="Athena",
    decks=1,
    stock=Stock.DRAW_THREE,  # R13, R14
    groups=(
        _columns(7, (4,) * 7, Build.DOWN_ALTERNATING, Base.KING, Lift.ALTERNATING_RUN, Faces.DOWN_UP),  # R12, R15
        _foundations(4, Build.UP_SAME_SUIT, Base.ACE),
        _STOCK,
        _WASTE,
    ),
)

STEVE: Final = Game(
    name="steve",
    title="Steve",
    decks=2,
    stock=Stock.DEAL_ROW,  # R17
    groups=(
        _columns(8, (*_TRIANGLE, 8), Build.DOWN_ANY_SUIT, Base.ANY, Lift.SUIT_RUN),  # R16, R18
        _foundations(8, Build.UP_SAME_SUIT, Base.ACE, Lift.TOP),  # R19, R20
        _STOCK,
    ),
)

PHOENIX: Final = Game(
    name="phoenix",
    title="Phoenix",
    decks=1,
    stock=Stock.NONE,
    groups=(
        _columns(6, (6,) * 6, Build.DOWN_ALTERNATING, Base.ANY, Lift.ALTERNATING_RUN),  # R21, R22
        Group(Kind.RESERVE, tuple("qwertyuiasdfghjk"), (1,) * 16),  # R21
        _foundations(4, Build.UP_SAME_SUIT, Base.ACE),
    ),
)

ACE_OF_HEARTS_GAME: Final = Game(
    name="ace-of-hearts",
    title="Ace of Hearts",
    decks=1,
    stock=Stock.DEAL_ROW,  # R23
    groups=(
        _columns(7, _TRIANGLE, Build.DOWN_SAME_SUIT, Base.KING, Lift.ANY),  # R23, R25
        _foundations(1, Build.UP_AROUND, Base.ACE_OF_HEARTS),  # R24
        _STOCK,
    ),
)

WILLOW: Final = Game(
    name="willow",
    title="Willow",
    decks=1,
    stock=Stock.NONE,
    groups=(
        _columns(7, _TRIANGLE, Build.DOWN_ALTERNATING, Base.ANY, Lift.ALTERNATING_RUN),  # R27, R29
        Group(Kind.FAN, tuple("qwer"), (6,) * 4, build=Build.SAME_RANK),  # R27, R28
        _foundations(4, Build.UP_SAME_SUIT, Base.ACE),
    ),
)

GAMES: Final[dict[str, Game]] = {game.name: game for game in (ATHENA, STEVE, PHOENIX, ACE_OF_HEARTS_GAME, WILLOW)}
"""The games by name, in the order in which they are listed."""

"""The five games as data: their piles, and the rules for each pile.

A game is one value with groups of piles. To add a game, add a value. To add a rule, add a member to ``Build``, ``Base``
or ``Lift`` and a row to its table, or a policy to ``stock``. The comments next to the values name the rulings of
RULES.md, R1 to R29.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from samedeal.cards import ACE_OF_HEARTS, DECK, Card
from samedeal.errors import UnknownGame
from samedeal.stock import DEAL_ROW, DRAW_THREE, NO_STOCK, StockPolicy


class Kind(StrEnum):
    """The kinds of piles. The value is the word for the kind in sentences."""

    COLUMN = "column"
    FAN = "fan"
    RESERVE = "reserve"
    FOUNDATION = "foundation"
    STOCK = "stock"
    WASTE = "waste"


class Faces(StrEnum):
    """The ways in which the cards of a pile lie when they are dealt.

    With ``DOWN_UP``, the deepest card lies face down, the next one face up, and so on.
    """

    UP = "up"
    DOWN_UP = "down, up, down, up"
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


class Lift(StrEnum):
    """The rules for which top cards may be taken off a pile together (RULES.md, ruling R3).

    The value is a sentence without its full stop.
    """

    NOTHING = "Nothing can be taken from it"
    TOP = "Only its top card can be taken"
    ALTERNATING_RUN = "Cards move together only in descending order and alternating colours"
    SUIT_RUN = "Cards move together only in descending order and in the same suit"
    ANY = "Any number of its face-up cards can be taken"


def _table(fits: Callable[[Card, Card], bool]) -> tuple[bytes, ...]:
    """Return the cards that fit on each card, indexed by the byte of the card below.

    ``fits`` gets a card and the card below. No card fits on a face-down card.
    """
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


def _derived() -> Any:
    """Return a dataclass field that is computed from the others.

    The field is not an argument of the constructor, and is neither compared nor printed.
    """
    return field(init=False, compare=False, repr=False)


def _set(value: object, **derived: object) -> None:
    """Set the computed fields of a frozen dataclass."""
    for name, content in derived.items():
        object.__setattr__(value, name, content)


@dataclass(frozen=True)
class Group:
    """Adjacent piles of one kind with the same rules, from left to right.

    ``keys`` holds the names of the piles as a player types them. ``sizes`` holds the number of cards that are dealt to
    each pile. The fields after ``lift`` are computed from the others only once, because the engine reads them for every
    move.
    """

    kind: Kind
    keys: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    faces: Faces = Faces.UP
    build: Build = Build.NONE
    base: Base = Base.NOTHING
    lift: Lift = Lift.TOP

    on: tuple[bytes, ...] = _derived()
    """The cards that may be put on a card, indexed by the byte of that card."""
    on_empty: bytes = _derived()
    """The cards that may be put on an empty pile."""
    run: tuple[bytes, ...] = _derived()
    """The cards that may lie directly on a card in a group that is moved together, indexed by the byte of that card."""
    sequence: tuple[bytes, ...] = _derived()
    """The cards that continue an ordered sequence after a card, indexed by the byte of that card.

    It equals ``run`` if cards that are moved together must be ordered. Otherwise it equals ``on``.
    """
    gives: bool = _derived()
    """Whether cards can be taken from these piles at all."""
    lifts_any: bool = _derived()
    """Whether any number of top cards can be moved together, in whatever order they lie."""
    follows_suit: bool = _derived()
    """Whether each of these piles builds in one suit."""

    def __post_init__(self) -> None:
        on, run = _ON[self.build], _RUN[self.lift]
        _set(
            self,
            on=on,
            on_empty=_ON_EMPTY[self.base],
            run=run,
            sequence=run if self.lift in (Lift.ALTERNATING_RUN, Lift.SUIT_RUN) else on,
            gives=self.lift is not Lift.NOTHING,
            lifts_any=self.lift is Lift.ANY,
            follows_suit=self.build in (Build.UP_SAME_SUIT, Build.DOWN_SAME_SUIT),
        )


@dataclass(frozen=True)
class Game:
    """A solitaire game.

    ``name`` is typed, ``title`` is shown, and ``blurb`` describes the game in a few words. ``seldom_winnable`` says
    that most random deals can't be won. Games are compared and printed by name. The piles of a board are in the order
    of ``groups``. The *position* of a pile is its index in this order. The fields after ``seldom_winnable`` are
    computed from the others.
    """

    name: str
    title: str
    decks: int = field(compare=False)
    groups: tuple[Group, ...] = field(compare=False, repr=False)
    stock: StockPolicy = field(compare=False, repr=False)
    blurb: str = field(compare=False, repr=False)
    seldom_winnable: bool = field(default=False, compare=False, repr=False)

    cards: int = _derived()
    """The number of cards in the game, 52 for each deck."""
    piles: tuple[Group, ...] = _derived()
    """The ``Group`` that each pile belongs to, by position."""
    keys: tuple[str, ...] = _derived()
    """The name of each pile, by position."""
    index: Mapping[str, int] = _derived()
    """The position of each pile by its name."""
    columns: range = _derived()
    """The positions of the columns."""
    foundations: range = _derived()
    """The positions of the foundations."""
    fans: range = _derived()
    """The positions of the fans."""
    reserve: range = _derived()
    """The positions of the piles in the reserve."""
    stock_at: int = _derived()
    """The position of the stock, or -1 in a game without a stock."""
    waste_at: int = _derived()
    """The position of the waste, or -1 in a game without a waste."""
    sources: tuple[int, ...] = _derived()
    """The positions of the piles from which cards can be taken. Foundations come last."""
    typed_keys: tuple[str, ...] = _derived()
    """The names of the piles that a player may have to type: of all piles except the foundations and the stock."""

    def __post_init__(self) -> None:
        piles = tuple(group for group in self.groups for _ in group.keys)
        keys = tuple(key for group in self.groups for key in group.keys)
        positions = {kind: [at for at, group in enumerate(piles) if group.kind is kind] for kind in Kind}
        # The piles of a kind are adjacent.
        ranges = {kind: range(found[0], found[-1] + 1) if found else range(0) for kind, found in positions.items()}
        foundations = ranges[Kind.FOUNDATION]
        sources = [at for at, group in enumerate(piles) if group.gives]
        _set(
            self,
            cards=52 * self.decks,
            piles=piles,
            keys=keys,
            index={key: at for at, key in enumerate(keys)},
            columns=ranges[Kind.COLUMN],
            foundations=foundations,
            fans=ranges[Kind.FAN],
            reserve=ranges[Kind.RESERVE],
            stock_at=next(iter(ranges[Kind.STOCK]), -1),
            waste_at=next(iter(ranges[Kind.WASTE]), -1),
            sources=tuple(sorted(sources, key=lambda at: at in foundations)),
            typed_keys=tuple(
                key for key, group in zip(keys, piles, strict=True) if group.kind not in (Kind.FOUNDATION, Kind.STOCK)
            ),
        )

    @classmethod
    def named(cls, name: str) -> Game:
        """Return the game with a name. Raise UnknownGame if no game has it."""
        try:
            return GAMES[name]
        except KeyError:
            raise UnknownGame(f"{name[:40]!r} is not a game. Choose one of {', '.join(GAMES)}.") from None

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Game.named({self.name!r})"

    def pile_name(self, key: str) -> str:
        """Return a pile in words, such as "column 3". The stock and the waste are just "stock" and "waste"."""
        at = self.index[key]
        kind = self.piles[at].kind
        return str(kind) if at in (self.stock_at, self.waste_at) else f"{kind} {key}"

    def pile_phrase(self, key: str) -> str:
        """Return a pile as part of a sentence, such as "column 3" or "the stock"."""
        at = self.index[key]
        kind = self.piles[at].kind
        return f"the {kind}" if at in (self.stock_at, self.waste_at) else f"{kind} {key}"


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
    blurb="7 half-hidden columns, draws of three",
    decks=1,
    stock=DRAW_THREE,  # R13, R14
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
    blurb="two decks, 8 columns, stock dealt in rows",
    decks=2,
    stock=DEAL_ROW,  # R17
    groups=(
        _columns(8, (*_TRIANGLE, 8), Build.DOWN_ANY_SUIT, Base.ANY, Lift.SUIT_RUN),  # R16, R18
        _foundations(8, Build.UP_SAME_SUIT, Base.ACE, Lift.TOP),  # R19, R20
        _STOCK,
    ),
)

PHOENIX: Final = Game(
    name="phoenix",
    title="Phoenix",
    blurb="6 columns, a reserve of 16, nothing hidden",
    seldom_winnable=True,
    decks=1,
    stock=NO_STOCK,
    groups=(
        _columns(6, (6,) * 6, Build.DOWN_ALTERNATING, Base.ANY, Lift.ALTERNATING_RUN),  # R21, R22
        Group(Kind.RESERVE, tuple("qwertyuiasdfghjk"), (1,) * 16),  # R21
        _foundations(4, Build.UP_SAME_SUIT, Base.ACE),
    ),
)

ACE_OF_HEARTS_GAME: Final = Game(
    name="ace-of-hearts",
    title="Ace of Hearts",
    blurb="one foundation, stock dealt in rows",
    decks=1,
    stock=DEAL_ROW,  # R23
    groups=(
        _columns(7, _TRIANGLE, Build.DOWN_SAME_SUIT, Base.KING, Lift.ANY),  # R23, R25
        _foundations(1, Build.UP_AROUND, Base.ACE_OF_HEARTS),  # R24
        _STOCK,
    ),
)

WILLOW: Final = Game(
    name="willow",
    title="Willow",
    blurb="7 columns and 4 fans, nothing hidden",
    decks=1,
    stock=NO_STOCK,
    groups=(
        _columns(7, _TRIANGLE, Build.DOWN_ALTERNATING, Base.ANY, Lift.ALTERNATING_RUN),  # R27, R29
        Group(Kind.FAN, tuple("qwer"), (6,) * 4, build=Build.SAME_RANK),  # R27, R28
        _foundations(4, Build.UP_SAME_SUIT, Base.ACE),
    ),
)

GAMES: Final[dict[str, Game]] = {game.name: game for game in (ATHENA, STEVE, PHOENIX, ACE_OF_HEARTS_GAME, WILLOW)}
"""The games by name, in the order in which lists show them."""

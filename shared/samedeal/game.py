"""The class ``Game``: the piles of a game, and the rules for each pile.

Files describe the games (``samedeal/games/``), and ``samedeal.game_file`` reads them. What is needed for every
move is computed from them once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Self

import msgspec

from samedeal.cards import DECK, IN_SUITS
from samedeal.game_file import GameFile, PileRow
from samedeal.policies import AS_FREE_PLACES_ALLOW, ON, ON_EMPTY, RUN, TAKEN_TOGETHER, Base, Build, Faces, Kind, Lift
from samedeal.stock import StockPolicy


def _derived() -> Any:
    """Return a dataclass field that is computed from the others.

    The field is not an argument of the constructor, and is neither compared nor printed.
    """
    return field(init=False, compare=False, repr=False)


def _set(value: object, **derived: object) -> None:
    """Set the computed fields of a frozen dataclass."""
    for name, content in derived.items():
        object.__setattr__(value, name, content)


_USUAL_LIFTS: Final = {Kind.FOUNDATION: Lift.NOTHING, Kind.STOCK: Lift.NOTHING}
"""What can be taken from a pile whose row in a file does not say it. From all other piles it is the top card."""


@dataclass(frozen=True)
class Group:
    """Adjacent piles of one kind with the same rules, from left to right.

    ``keys`` holds the names of the piles as a player types them. ``sizes`` holds the number of cards that are dealt to
    each pile. The fields after ``lift`` are computed from the others only once, because they are read for every
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
    takes: int = _derived()
    """The number of cards that a foundation takes in one move."""
    needs_places: bool = _derived()
    """Whether free cells and empty columns limit how many cards can be moved together."""
    lifts_any: bool = _derived()
    """Whether any number of top cards can be moved together, in whatever order they lie."""
    follows_suit: bool = _derived()
    """Whether each of these piles builds in one suit."""

    @classmethod
    def of(cls, row: PileRow) -> Self:
        """Return the piles that a row of a file describes."""
        lift = row.lift or _USUAL_LIFTS.get(row.kind, Lift.TOP)
        faces = Faces.DOWN if row.kind is Kind.STOCK else row.faces
        return cls(row.kind, row.names, row.sizes, faces, row.build, row.empty, lift)

    def __post_init__(self) -> None:
        on, run = ON[self.build], RUN[self.lift]
        _set(
            self,
            on=on,
            on_empty=ON_EMPTY[self.base],
            run=run,
            sequence=on if self.lift in (Lift.NOTHING, Lift.TOP, Lift.ANY) else run,
            gives=self.lift is not Lift.NOTHING,
            takes=TAKEN_TOGETHER[self.base],
            needs_places=self.lift in AS_FREE_PLACES_ALLOW,
            lifts_any=self.lift is Lift.ANY,
            follows_suit=self.build in (Build.UP_SAME_SUIT, Build.DOWN_SAME_SUIT),
        )


@dataclass(frozen=True)
class Game:
    """A solitaire game.

    ``name`` is typed and ``title`` is shown. ``file`` has what is not needed for moves. Games are equal if they have the
    same title and rules, and are printed by name. The piles of a board are in the order of ``groups``. The *position* of
    a pile is its index in this order. The fields after ``file`` are computed from the others.
    """

    name: str
    title: str
    decks: int
    groups: tuple[Group, ...] = field(repr=False)
    stock: StockPolicy = field(repr=False)
    file: GameFile = field(default=GameFile(), repr=False)

    cards: int = _derived()
    """The number of cards in the game, 52 for each deck."""
    deck: bytes = _derived()
    """The cards of the game before they are shuffled, in the order of new decks."""
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
    cells: range = _derived()
    """The positions of the cells."""
    singles: range = _derived()
    """The positions of the piles that hold at most one card: of the reserve and of the cells."""
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
            deck=(DECK * self.decks).translate(IN_SUITS[self.file.suits]),
            piles=piles,
            keys=keys,
            index={key: at for at, key in enumerate(keys)},
            columns=ranges[Kind.COLUMN],
            foundations=foundations,
            fans=ranges[Kind.FAN],
            reserve=ranges[Kind.RESERVE],
            cells=ranges[Kind.CELL],
            singles=ranges[Kind.RESERVE] or ranges[Kind.CELL],
            stock_at=next(iter(ranges[Kind.STOCK]), -1),
            waste_at=next(iter(ranges[Kind.WASTE]), -1),
            sources=tuple(sorted(sources, key=lambda at: at in foundations)),
            typed_keys=tuple(
                key for key, group in zip(keys, piles, strict=True) if group.kind not in (Kind.FOUNDATION, Kind.STOCK)
            ),
        )

    @classmethod
    def of(cls, name: str, file: GameFile) -> Self:
        """Return the game that a file describes."""
        groups = tuple(Group.of(row) for row in file.piles)
        return cls(name, file.title, file.decks, groups, file.stock_policy, file)

    @property
    def rules(self) -> dict[str, Any]:
        """What decides how the game is dealt and played, with the names that ``games.json`` uses."""
        return {
            "decks": self.decks,
            "suits": self.file.suits,
            "stock": self.file.stock,
            "piles": [
                {
                    "kind": group.kind,
                    "keys": " ".join(group.keys),
                    "sizes": group.sizes,
                    "faces": group.faces,
                    "build": group.build,
                    "empty": group.base,
                    "lift": group.lift,
                }
                for group in self.groups
            ],
        }

    @cached_property
    def rules_hash(self) -> bytes:
        """The hash of the rules, which records carry. RECORDS.md, *The rules*, specifies it byte by byte."""
        return sha256(f"samedeal rules 1\n{self.name}\n".encode() + msgspec.json.encode(self.rules)).digest()

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Game):
            return self is other
        return (self.title, self.rules_hash) == (other.title, other.rules_hash)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"game_named({self.name!r})"

    def pile_name(self, key: str) -> str:
        """Return a pile in words, such as "column 3". The stock and the waste are just "stock" and "waste"."""
        at = self.index[key]
        kind = self.piles[at].kind
        return str(kind) if at in (self.stock_at, self.waste_at) else f"{kind} {key}"

    def pile_phrase(self, key: str) -> str:
        """Return a pile as part of a sentence, such as "column 3" or "the stock"."""
        name = self.pile_name(key)
        return name if " " in name else f"the {name}"

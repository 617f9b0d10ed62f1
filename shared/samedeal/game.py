"""The class ``Game``: the piles of a game, and the rules for each pile.

Files describe the games (``samedeal/games/``), and ``samedeal.game_file`` reads them. What is needed for every
move is computed from them once.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import Any, Final

import msgspec

from samedeal.cards import DECK, IN_SUITS
from samedeal.game_file import GameFile, PileRow
from samedeal.policies import AS_FREE_PLACES_ALLOW, ON, ON_EMPTY, RUN, TAKEN_TOGETHER, Build, Faces, Kind, Lift

_USUAL_LIFTS: Final = {Kind.FOUNDATION: Lift.NOTHING, Kind.STOCK: Lift.NOTHING}
"""What can be taken from a pile whose row in a file does not say it. From all other piles it is the top card."""


class Group:
    """Adjacent piles of one kind with the same rules, from left to right. A row of a file describes them.

    ``keys`` holds the names of the piles as a player types them. ``sizes`` holds the number of cards that are dealt to
    each pile. What follows from the policies is computed only once, because it is read for every move.
    """

    def __init__(self, row: PileRow) -> None:
        self.kind: Final = row.kind
        self.keys: Final = row.names
        self.sizes: Final = row.sizes
        self.faces: Final = Faces.DOWN if row.kind is Kind.STOCK else row.faces
        self.build: Final = row.build
        self.base: Final = row.empty
        self.lift: Final = row.lift or _USUAL_LIFTS.get(row.kind, Lift.TOP)
        self.on: Final = ON[self.build]
        """The cards that may be put on a card, indexed by the byte of that card."""
        self.on_empty: Final = ON_EMPTY[self.base]
        """The cards that may be put on an empty pile."""
        self.run: Final = RUN[self.lift]
        """The cards that may lie directly on a card in a group that is moved together, indexed by the byte of that card."""
        self.sequence: Final = self.on if self.lift in (Lift.NOTHING, Lift.TOP, Lift.ANY) else self.run
        """The cards that continue an ordered sequence after a card, indexed by the byte of that card.

        It equals ``run`` if cards that are moved together must be ordered. Otherwise it equals ``on``.
        """
        self.gives: Final = self.lift is not Lift.NOTHING
        """Whether cards can be taken from these piles at all."""
        self.takes: Final = TAKEN_TOGETHER[self.base]
        """The number of cards that a foundation takes in one move."""
        self.needs_places: Final = self.lift in AS_FREE_PLACES_ALLOW
        """Whether free cells and empty columns limit how many cards can be moved together."""
        self.lifts_any: Final = self.lift is Lift.ANY
        """Whether any number of top cards can be moved together, in whatever order they lie."""
        self.follows_suit: Final = self.build in (Build.UP_SAME_SUIT, Build.DOWN_SAME_SUIT)
        """Whether each of these piles builds in one suit."""


class Game:
    """A solitaire game, as a file describes it.

    ``name`` is typed and ``title`` is shown. ``file`` has what is not needed for moves. Games are equal if they have the
    same title and rules, and are printed by name. The piles of a board are in the order of ``groups``. The *position* of
    a pile is its index in this order.
    """

    def __init__(self, name: str, file: GameFile) -> None:
        self.name: Final = name
        self.file: Final = file
        self.title: Final = file.title
        self.decks: Final = file.decks
        self.stock: Final = file.stock_policy
        self.groups: Final = tuple(Group(row) for row in file.piles)
        self.cards: Final = 52 * self.decks
        """The number of cards in the game, 52 for each deck."""
        self.deck: Final = (DECK * self.decks).translate(IN_SUITS[file.suits])
        """The cards of the game before they are shuffled, in the order of new decks."""
        self.piles: Final = tuple(group for group in self.groups for _ in group.keys)
        """The ``Group`` that each pile belongs to, by position."""
        self.keys: Final = tuple(key for group in self.groups for key in group.keys)
        """The name of each pile, by position."""
        self.index: Final = {key: at for at, key in enumerate(self.keys)}
        """The position of each pile by its name."""
        self.columns: Final = self._positions(Kind.COLUMN)
        """The positions of the columns."""
        self.foundations: Final = self._positions(Kind.FOUNDATION)
        """The positions of the foundations."""
        self.fans: Final = self._positions(Kind.FAN)
        """The positions of the fans."""
        self.reserve: Final = self._positions(Kind.RESERVE)
        """The positions of the piles in the reserve."""
        self.cells: Final = self._positions(Kind.CELL)
        """The positions of the cells."""
        self.singles: Final = self.reserve or self.cells
        """The positions of the piles that hold at most one card: of the reserve and of the cells."""
        self.stock_at: Final = next(iter(self._positions(Kind.STOCK)), -1)
        """The position of the stock, or -1 in a game without a stock."""
        self.waste_at: Final = next(iter(self._positions(Kind.WASTE)), -1)
        """The position of the waste, or -1 in a game without a waste."""
        sources = [at for at, group in enumerate(self.piles) if group.gives]
        self.sources: Final = tuple(sorted(sources, key=lambda at: at in self.foundations))
        """The positions of the piles from which cards can be taken. Foundations come last."""
        unnamed = (*self.foundations, self.stock_at)
        self.typed_keys: Final = tuple(key for at, key in enumerate(self.keys) if at not in unnamed)
        """The names of the piles that a player may have to type: of all piles except the foundations and the stock."""

    def _positions(self, kind: Kind) -> range:
        """Return the positions of the piles of a kind, which are adjacent."""
        found = [at for at, group in enumerate(self.piles) if group.kind is kind]
        return range(found[0], found[-1] + 1) if found else range(0)

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

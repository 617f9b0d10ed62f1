"""What is marked on a board: the cards picked up, where they can go, the last move, a card that was looked for, a hint.

A mark is a style, and where there is no colour a sign before or after the card::

    [10♥]  picked up        >10♥   can take them       10♥<  came with the last move
    *10♥*  was looked for   ?10♥?  a hint moves it    |10♥|  the card of the waste that can be played
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.board import Board, Step
from samedeal.cards import DOWN, FACE
from samedeal.games import Group, Kind, Lift
from samedeal.moves import FOUNDATION, Move
from samedeal_client.text.look import Look

SIGNS: Final[dict[str, tuple[str, str]]] = {
    "": (" ", " "),
    "last": (" ", "<"),
    "top": ("|", "|"),
    "target": (">", " "),
    "hint": ("?", "?"),
    "source": ("[", "]"),
    "found": ("*", "*"),
}
"""The signs before and after a card with a mark; a later mark hides an earlier one on the same card."""

STRENGTH: Final = {mark: at for at, mark in enumerate(SIGNS)}


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked on a board.

    ``source`` is a pile and how many of its top cards are picked up; ``targets`` are names of piles, those of foundations
    included; ``last`` are piles with the number of top cards that the last move brought there; ``found`` is a card (its
    face), marked wherever it lies face up; ``hint`` is a move.
    """

    source: tuple[str, int] | None = None
    targets: frozenset[str] = frozenset()
    last: tuple[tuple[str, int], ...] = ()
    found: int | None = None
    hint: Move | None = None

    def of_pile(self, key: str) -> str:
        """The mark of a pile as such: ``source``, ``target``, ``hint``, or an empty text."""
        if self.source is not None and self.source[0] == key:
            return "source"
        hint = self.hint
        if hint is not None and (hint.source == key or (key == "stock" and not hint.is_transfer)):
            return "hint"
        return "target" if key in self.targets or (hint is not None and hint.target == key) else ""

    def of_cards(self, key: str, pile: bytes) -> dict[int, str]:
        """The marks of the cards of a pile, by their places from the deepest; cards without one are left out."""
        size = len(pile)
        marks: dict[int, str] = {}
        if not size:
            return marks
        for where, count in self.last:
            if where == key:
                marks.update(dict.fromkeys(range(max(size - count, 0), size), "last"))
        hint = self.hint
        if key in self.targets or (hint is not None and hint.target == key):
            marks[size - 1] = "target"
        if hint is not None and hint.source == key:
            marks.update(dict.fromkeys(range(max(size - hint.size, 0), size), "hint"))
        if self.source is not None and self.source[0] == key:
            marks.update(dict.fromkeys(range(max(size - self.source[1], 0), size), "source"))
        if self.found is not None:
            marks.update({at: "found" for at, card in enumerate(pile) if card == self.found})
        return marks


NO_MARKS: Final = Marks()


def signs(look: Look, mark: str) -> tuple[str, str]:
    """What stands before and after a card with a mark; blanks where colour tells it."""
    return SIGNS["" if look.colour else mark]


def signed(text: str, look: Look, mark: str) -> str:
    """Up to three columns of text in five, its end always in the fourth, with the signs of a mark beside it."""
    before, after = signs(look, mark)
    return (before + text).rjust(4) + after


def run_length(group: Group, pile: bytes) -> int:
    """How many top cards belong together: those lifted as one, or, where anything may be, those in sequence."""
    linked = group.run if group.lift in (Lift.ALTERNATING_RUN, Lift.SUIT_RUN) else group.on
    size = min(len(pile), 1)
    while 0 < size < len(pile) and pile[-size] in linked[pile[-size - 1]]:
        size += 1
    return size


def lifted(board: Board, key: str) -> int:
    """How many top cards of a pile can be picked up together at most; 0 where nothing can be taken."""
    at = board.game.index[key]
    group, pile = board.game.piles[at], board.piles[at]
    if not pile or not group.gives or pile[-1] & DOWN:
        return 0
    size = 1
    while size < len(pile) and pile[-size] in group.run[pile[-size - 1]]:
        size += 1
    return size


def sizes(board: Board, key: str) -> tuple[int, ...]:
    """How many top cards of a pile can go somewhere, from few to many; where none can, how many can be picked up."""
    going = {move.size for move in board.legal_moves() if move.source == key}
    return tuple(sorted(going)) or tuple(range(1, lifted(board, key) + 1))


def foundation_for(board: Board, card: int) -> str | None:
    """The name of the foundation that takes a card, the first where several do (rulings R19, R24); None where none does."""
    game = board.game
    for at in game.foundations:
        pile, group = board.piles[at], game.piles[at]
        if card in (group.on[pile[-1]] if pile else group.on_empty):
            return game.keys[at]
    return None


def picked(board: Board, key: str, size: int | None = None, *, last: tuple[tuple[str, int], ...] = ()) -> Marks:
    """The marks for cards picked up from a pile: ``size`` of its top cards, or as many as can go, and their targets.

    Without ``size`` the targets are those of every group that can be lifted from the pile. ``0`` is any foundation's top.
    """
    if key == FOUNDATION:
        keys = [board.game.keys[at] for at in board.game.foundations]
        targets = {move.target for move in board.legal_moves() if move.source in keys}
        return Marks(None, frozenset(targets), last)
    targets = set()
    top = board.piles[board.game.index[key]][-1:]
    for move in board.legal_moves():
        if move.source == key and size in (None, move.size):
            target = foundation_for(board, top[0] & FACE) if move.target == FOUNDATION else move.target
            targets.update([target] if target else [])
    return Marks((key, max(sizes(board, key), default=0) if size is None else size), frozenset(targets), last)


def brought(board: Board, step: Step | None) -> tuple[tuple[str, int], ...]:
    """Where the cards of a step have come to, as in ``Marks.last``; nowhere without one."""
    if step is None:
        return ()
    keys = board.game.keys
    if step.target < 0:
        return tuple((keys[at], 1) for at in board.game.columns[: step.size])
    if board.game.piles[step.target].kind is Kind.STOCK:
        return ()
    return ((keys[step.target], step.size),)

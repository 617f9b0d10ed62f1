"""Marks on a board: the selected cards, their targets, the last move, a card that was found, a hint.

A mark is a style and a sign in the upper right corner of a card::

    10♥↑  selected     10♥↓  possible target        10♥•  arrived with the last move
    10♥*  found        10♥?  moved by the hint

A target that takes only some of the selected cards is paler. Next to the name of a pile, a number says how many cards are
selected there, or would go there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal.board import Board, Step
from samedeal.cards import DOWN, FACE
from samedeal.game import Group
from samedeal.moves import FOUNDATION, Move
from samedeal_client.board.foundation_order import foundation_for
from samedeal_client.text.appearance import Look

_ORDER: Final = ("", "last", "partial", "target", "hint", "source", "found")
"""The marks. If a card has several, the last of them in this order is shown."""

_SIGNED: Final = ("last", "target", "hint", "source", "found")
"""The marks that have a sign, in the order of the signs in ``Look.glyphs.marks``."""

STRENGTH: Final = {mark: at for at, mark in enumerate(_ORDER)}


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a board.

    ``source`` is a pile and the number of its top cards that are selected. ``targets`` holds names of piles, including
    foundations. ``partial`` holds the targets that do not take all selected cards, each with the number of cards that
    it takes. ``last`` holds the piles that received cards in the last move, each with the number of these cards.
    ``found`` is the face of a card, marked wherever it lies face up. ``hint`` is a move.
    """

    source: tuple[str, int] | None = None
    targets: frozenset[str] = frozenset()
    last: tuple[tuple[str, int], ...] = ()
    found: int | None = None
    hint: Move | None = None
    partial: tuple[tuple[str, int], ...] = ()

    def count(self, key: str) -> int:
        """Return the number that stands next to the name of the pile ``key``, or 0 for no number.

        It is the number of selected cards that are in the pile or would go there. A single card gets no number.
        """
        if self.source is None or self.source[1] < 2:
            return 0
        return dict(self.partial).get(key, self.source[1] if key in (self.source[0], *self.targets) else 0)

    def of_pile(self, key: str) -> str:
        """Return the mark on the name of the pile ``key``, or an empty string for none."""
        if self.source is not None and self.source[0] == key:
            return "source"
        hint = self.hint
        if hint is not None and (hint.source == key or (key == "stock" and not hint.is_transfer)):
            return "hint"
        if key in dict(self.partial):
            return "partial"
        return "target" if key in self.targets or (hint is not None and hint.target == key) else ""

    def of_cards(self, key: str, pile: bytes) -> dict[int, str]:
        """Return the marks of a pile's cards, by their index from the deepest. Cards without a mark are left out."""
        size = len(pile)
        marks: dict[int, str] = {}
        if not size:
            return marks
        for changed, count in self.last:
            if changed == key:
                marks.update(dict.fromkeys(range(max(size - count, 0), size), "last"))
        hint = self.hint
        if key in self.targets or (hint is not None and hint.target == key):
            marks[size - 1] = self.of_pile(key) or "target"
        if hint is not None and hint.source == key:
            marks.update(dict.fromkeys(range(max(size - hint.size, 0), size), "hint"))
        if self.source is not None and self.source[0] == key:
            marks.update(dict.fromkeys(range(max(size - self.source[1], 0), size), "source"))
        if self.found is not None:
            marks.update({at: "found" for at, card in enumerate(pile) if card == self.found})
        return marks


NO_MARKS: Final = Marks()


def mark_sign(look: Look, mark: str) -> str:
    """Return the sign of a mark, or an empty string without a mark. With signs, nobody needs to tell colours apart."""
    return look.glyphs.marks[_SIGNED.index("target" if mark == "partial" else mark)] if mark else ""


def run_length(group: Group, pile: bytes) -> int:
    """Return the number of top cards that form an ordered sequence and can be moved together."""
    return _linked_count(group.sequence if group.lifts_any else group.run, pile)


def _linked_count(linked: tuple[bytes, ...], pile: bytes) -> int:
    """Return the number of top cards each of which may lie on the one below it."""
    size = min(len(pile), 1)
    while 0 < size < len(pile) and pile[-size] in linked[pile[-size - 1]]:
        size += 1
    return size


def liftable_count(board: Board, key: str) -> int:
    """Return the maximum number of top cards of a pile that can be lifted together, or 0 if none can be lifted."""
    at = board.game.index[key]
    group, pile = board.game.piles[at], board.piles[at]
    return _linked_count(group.run, pile) if pile and group.gives and not pile[-1] & DOWN else 0


def movable_counts(board: Board, key: str) -> tuple[int, ...]:
    """Return the numbers of top cards that legal moves can take from a pile, in ascending order.

    If the pile has no legal move, return the numbers of cards that can be lifted.
    """
    sizes = {move.size for move in board.legal_moves() if move.source == key}
    return tuple(sorted(sizes)) or tuple(range(1, liftable_count(board, key) + 1))


def selection_marks(
    board: Board, key: str, size: int | None = None, *, last: tuple[tuple[str, int], ...] = ()
) -> Marks:
    """Return the marks for ``size`` selected cards of a pile and for their targets.

    If ``size`` is None, as many cards as can move are selected, and targets that take fewer of them are marked too.
    If ``key`` is ``0``, the targets are all piles that take the top card of a foundation. ``last`` is as in
    ``Marks``.
    """
    if key == FOUNDATION:
        from_foundations = frozenset(move.target for move in board.legal_moves() if board.is_worry_back(move))
        return Marks(None, from_foundations, last)
    targets: dict[str, int] = {}
    pile = board.piles[board.game.index[key]]
    for move in board.legal_moves():
        if move.source == key and size in (None, move.size):
            target = foundation_for(board, pile[-move.size] & FACE) if move.target == FOUNDATION else move.target
            if target:
                targets[target] = max(move.size, targets.get(target, 0))
    selected = max(movable_counts(board, key), default=0) if size is None else size
    partial = tuple((target, count) for target, count in targets.items() if count < selected)
    return Marks((key, selected), frozenset(targets), last, partial=partial)


def arrived_cards(board: Board, step: Step | None) -> tuple[tuple[str, int], ...]:
    """Return the piles that received cards in a step, each with the number of cards, for ``Marks.last``."""
    if step is None:
        return ()
    keys = board.game.keys
    if step.target < 0:
        return tuple((keys[at], 1) for at in board.game.columns[: step.size])
    if step.target == board.game.stock_at:
        return ()
    return ((keys[step.target], step.size),)

"""What the mouse does on a board, pure: presses and releases in, the effects of the two-key grammar out.

Cards are moved by dragging them, or by a click on them and one on where they go; a double click moves them to where they
fit best, and a click on the stock draws or deals. A card is picked up with those on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.games import Kind
from samedeal.moves import Move
from samedeal_client.board.keys import Cancel, Choose, Keys, Pressed, Unknown
from samedeal_client.board.picture import Hit

DOUBLE: Final = 0.4
"""Seconds within which a second click on cards makes a double click."""


class Pointed(NamedTuple):
    """The pointer after an event, and what it came to; None where it came to nothing."""

    pointer: Pointer
    pressed: Pressed | None


@dataclass(frozen=True, slots=True)
class Pointer:
    """The mouse over a board.

    ``down`` is what the button went down on; ``fresh`` whether that picked it up; ``clicked`` is when cards were last
    picked up with a click, in seconds of any clock.
    """

    down: Hit | None = None
    fresh: bool = False
    clicked: float = -1.0

    def press(self, hit: Hit | None, keys: Keys, board: Board) -> Pointed:
        """The button goes down."""
        if hit is None:
            return Pointed(Pointer(), None if keys.idle else Pressed(Keys(keys.bindings), Cancel(idle=False)))
        if keys.looking and hit.pile != "stock":
            return Pointed(Pointer(), keys.look_into(hit.pile, board))
        if not keys.source:
            if hit.pile == "stock":
                return Pointed(Pointer(), keys.draw(board))
            if hit.covered:
                return Pointed(Pointer(), keys.look_into(hit.pile, board))
            return self._pick(hit, keys, board)
        if hit.pile == keys.source:
            return Pointed(replace(self, down=hit, fresh=False), None)
        put = keys.put(hit.pile, board)
        if isinstance(put.effect, Unknown) and hit.pile != "stock":
            again = self._pick(hit, Keys(keys.bindings), board)
            if isinstance(again.pressed, Pressed) and isinstance(again.pressed.effect, Choose):
                chosen = replace(again.pressed.effect, sentence=put.effect.sentence)
                return Pointed(again.pointer, Pressed(again.pressed.keys, chosen))
        return Pointed(Pointer(), put)

    def over(self, hit: Hit | None, keys: Keys, board: Board) -> Move | None:
        """The move that the cards that are dragged would make if they were let go here; None where they make none."""
        if self.down is None or hit is None or hit.pile in (self.down.pile, "stock") or not keys.source:
            return None
        effect = keys.put(hit.pile, board).effect
        return effect if isinstance(effect, Move) else None

    def release(self, hit: Hit | None, keys: Keys, board: Board, now: float) -> Pointed:
        """The button comes up."""
        down = self.down
        if down is None or not keys.source:
            return Pointed(Pointer(), None)
        if hit is None or hit.pile != down.pile:
            if hit is None or hit.pile == "stock":
                return Pointed(Pointer(), Pressed(Keys(keys.bindings), Cancel(idle=False)))
            return Pointed(Pointer(), keys.put(hit.pile, board))
        if self.fresh:
            return Pointed(Pointer(clicked=now), None)
        if now - self.clicked <= DOUBLE:
            return Pointed(Pointer(), keys.best(board))
        if _size(down, board) not in (None, keys.size):
            again = self._pick(down, Keys(keys.bindings), board)
            return Pointed(replace(again.pointer, down=None, clicked=now), again.pressed)
        return Pointed(Pointer(), Pressed(Keys(keys.bindings), Cancel(idle=False)))

    def _pick(self, hit: Hit, keys: Keys, board: Board) -> Pointed:
        picked = keys.pick(hit.pile, board, _size(hit, board))
        up = bool(picked.keys.source)
        return Pointed(Pointer(hit if up else None, fresh=up), picked)


def _size(hit: Hit, board: Board) -> int | None:
    """How many cards are picked up at a card of a column; elsewhere it is the top one."""
    at = board.game.index[hit.pile]
    if hit.card is None or board.game.piles[at].kind is not Kind.COLUMN:
        return None
    return len(board.piles[at]) - hit.card

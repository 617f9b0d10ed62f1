"""The mouse on a board, as a pure state machine: button events go in, the results of the key grammar come out.

A move is made by dragging cards to the target, or by clicking the cards and then the target. A double click moves
cards to the most useful target, and a click on the stock draws or deals. Selecting a card of a column also selects the
cards on top of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.moves import Move
from samedeal_client.board.board_picture import HitTarget
from samedeal_client.input.intended_move import Rejected
from samedeal_client.input.key_grammar import Cancelled, KeyGrammar, KeyResult, Selected

DOUBLE_CLICK_TIME: Final = 0.4
"""Maximum time, in seconds, between the two clicks of a double click."""


class PointerResult(NamedTuple):
    """The state after a button event, and the result of the key grammar. The result is None if the event has no effect."""

    pointer: Pointer
    key_result: KeyResult | None


@dataclass(frozen=True, slots=True)
class Pointer:
    """The state of the mouse.

    ``pressed_on`` is the pile and card under the pointer when the button went down. ``newly_selected`` is true if that
    press selected the cards. ``selected_at`` is the time, in seconds, at which a click last selected cards.

    If the player clicks a pile that does not take the selected cards, these cards stay selected, and ``refused`` is
    that pile. A second click on it selects its own cards instead. While the button is down for the first click, the
    pile's own cards are selected, so that they can be dragged. ``kept`` then has the earlier selection.
    """

    pressed_on: HitTarget | None = None
    newly_selected: bool = False
    selected_at: float = -1.0
    kept: KeyResult | None = None
    refused: str = ""

    def press(self, hit: HitTarget | None, grammar: KeyGrammar, board: Board) -> PointerResult:
        """Process the button going down on ``hit``. If ``hit`` is None, nothing is under the pointer."""
        if hit is None:
            return PointerResult(Pointer(), None if grammar.idle else _cancelled(grammar))
        is_stock = _is_stock(hit, board)
        if grammar.viewing and not is_stock:
            return PointerResult(Pointer(), grammar.view_pile(hit.pile, board))
        if not grammar.source:
            if is_stock:
                return PointerResult(Pointer(), grammar.use_stock(board))
            if hit.collapsed:
                return PointerResult(Pointer(), grammar.view_pile(hit.pile, board))
            return self._select(hit, grammar, board)
        if hit.pile == grammar.source:
            return PointerResult(replace(self, pressed_on=hit, newly_selected=False), None)
        moved = grammar.choose_target(hit.pile, board)
        if isinstance(moved.effect, Rejected) and not is_stock:
            again = hit.pile == self.refused
            other = self._select(hit, KeyGrammar(grammar.bindings), board)
            kept = None if again else _still_selected(grammar, board, moved.effect)
            if kept is not None and other.pointer.pressed_on is None:
                return PointerResult(Pointer(refused=hit.pile), kept)
            selected_at = self.selected_at if again else -1.0
            return PointerResult(replace(other.pointer, kept=kept, selected_at=selected_at), other.key_result)
        return PointerResult(Pointer(), moved)

    def drop_move(self, hit: HitTarget | None, grammar: KeyGrammar, board: Board) -> Move | None:
        """Return the legal move that dropping the dragged cards on ``hit`` would make, or None if there is none."""
        if self.pressed_on is None or hit is None or hit.pile == self.pressed_on.pile or not grammar.source:
            return None
        effect = grammar.choose_target(hit.pile, board).effect
        return effect if isinstance(effect, Move) else None

    def release(self, hit: HitTarget | None, grammar: KeyGrammar, board: Board, now: float) -> PointerResult:
        """Process the button coming up on ``hit``. ``now`` is the time, in seconds, of any monotonic clock."""
        pressed_on = self.pressed_on
        if pressed_on is None or not grammar.source:
            return PointerResult(Pointer(), None)
        if hit is None or _is_stock(hit, board):
            return PointerResult(Pointer(), _cancelled(grammar))
        if hit.pile != pressed_on.pile:
            return PointerResult(Pointer(), grammar.choose_target(hit.pile, board))
        if self.kept is not None:
            return PointerResult(Pointer(selected_at=now, refused=hit.pile), self.kept)
        if now - self.selected_at <= DOUBLE_CLICK_TIME:
            return PointerResult(Pointer(), grammar.choose_best(board))
        if self.newly_selected:
            return PointerResult(Pointer(selected_at=now), None)
        if _size(pressed_on, board) not in (None, grammar.size):
            reselected = self._select(pressed_on, KeyGrammar(grammar.bindings), board)
            return PointerResult(replace(reselected.pointer, pressed_on=None, selected_at=now), reselected.key_result)
        return PointerResult(Pointer(), _cancelled(grammar))

    def _select(self, hit: HitTarget, grammar: KeyGrammar, board: Board) -> PointerResult:
        result = grammar.select(hit.pile, board, _size(hit, board))
        is_selected = bool(result.grammar.source)
        return PointerResult(Pointer(hit if is_selected else None, newly_selected=is_selected), result)


def _still_selected(grammar: KeyGrammar, board: Board, rejected: Rejected) -> KeyResult:
    """Return the selection of ``grammar`` again, now with the reason why another pile does not take the cards."""
    selection = KeyGrammar(grammar.bindings).select(grammar.source, board, grammar.size)
    if not isinstance(selection.effect, Selected):
        return selection
    return KeyResult(selection.grammar, replace(selection.effect, sentence=rejected.sentence))


def _cancelled(grammar: KeyGrammar) -> KeyResult:
    return KeyResult(KeyGrammar(grammar.bindings), Cancelled(idle=False))


def _is_stock(hit: HitTarget, board: Board) -> bool:
    return board.game.index[hit.pile] == board.game.stock_at


def _size(hit: HitTarget, board: Board) -> int | None:
    """Return the number of cards from a card of a column up to the column's top card.

    Return None for other piles, because only their top cards move.
    """
    at = board.game.index[hit.pile]
    if hit.card is None or at not in board.game.columns:
        return None
    return len(board.piles[at]) - hit.card

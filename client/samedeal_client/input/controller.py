"""A player's input in a race: keys and mouse events in, actions and messages out. Pure.

The controller passes keys to the two-key grammar. While a card is being revealed, it queues them. It previews dragged
cards, and marks a found card and a hint. The screen carries out the actions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeAlias

from samedeal.board import Board, Step
from samedeal.cards import FACE, Card
from samedeal.moves import Move
from samedeal_client.board.board_picture import HitTarget
from samedeal_client.board.drag_preview import DragPreview, drag_preview
from samedeal_client.board.marks import Marks, arrived_cards, selection_marks
from samedeal_client.input.bindings import KeyCommand
from samedeal_client.input.intended_move import Rejected, move_between
from samedeal_client.input.key_grammar import (
    Cancelled,
    Effect,
    EntryPrompt,
    FindCard,
    KeyGrammar,
    KeyResult,
    MoveChoice,
    ScreenCommand,
    Selected,
    ViewPile,
)
from samedeal_client.input.pointer import Pointer, PointerResult

MAX_QUEUED_KEYS: Final = 1000
"""Maximum number of keys that wait until a card is revealed."""

DESTINATION_WINDOW: Final = 1.0
"""Time, in seconds, after a rejected source in which the next key counts as the target of the rejected move."""

NOT_DEALT: Final = "The cards have not been dealt yet. You can move when your race has begun."
QUEUE_FULL: Final = f"{MAX_QUEUED_KEYS} keys are waiting for the server. This key was ignored."

OpenEntry: TypeAlias = Selected | MoveChoice | EntryPrompt
"""The effect of a key after which the player has to press more keys."""


class MarkedMove(NamedTuple):
    """A dragged move or a hint, with the board that it belongs to. The move is not shown on any other board."""

    board: Board
    move: Move


class ControllerResult(NamedTuple):
    """The controller after an event, an action for the screen, and a message for the player.

    An empty message clears the message line. If the message is None, the message line does not change.
    """

    controller: RaceController
    action: Move | FindCard | ScreenCommand | None = None
    message: str | None = None


@dataclass(frozen=True)
class RaceController:
    """The state of a player's input.

    ``entry`` is the effect of the last key, or None if no more keys are needed. ``queue`` has the keys that wait until
    a card is revealed. ``inspected`` is the pile that is shown in full, or empty if there is none. ``found`` is the
    face of the card that the player searched for. ``rejected_at`` is the time of the last rejected input.
    """

    grammar: KeyGrammar = field(default_factory=KeyGrammar)
    pointer: Pointer = field(default_factory=Pointer)
    queue: tuple[str, ...] = ()
    entry: OpenEntry | None = None
    drag: MarkedMove | None = None
    hint: MarkedMove | None = None
    found: int | None = None
    inspected: str = ""
    rejected_at: float = 0.0

    @property
    def idle(self) -> bool:
        """Whether there is nothing to cancel."""
        return self.grammar.idle and not self.inspected

    def press(self, key: str, board: Board | None, now: float, *, awaiting_face: bool = False) -> ControllerResult:
        """Handle a key.

        While a card is being revealed (``awaiting_face``), the key is queued. The cancel key empties the queue instead.
        """
        command = self.grammar.bindings.meaning(key)
        closed = replace(self, inspected="")
        if self.inspected and command is KeyCommand.CANCEL:
            return ControllerResult(closed)
        if board is None:
            if command is KeyCommand.HELP:
                return ControllerResult(closed, KeyCommand.HELP)
            return ControllerResult(closed, message=NOT_DEALT)
        if not awaiting_face:
            return _type(closed, key, board, now)
        if command is KeyCommand.CANCEL:
            return ControllerResult(replace(closed, queue=()))
        if len(self.queue) >= MAX_QUEUED_KEYS:
            return ControllerResult(closed, message=QUEUE_FULL)
        return ControllerResult(replace(closed, queue=(*self.queue, key)))

    def press_queued(self, board: Board, now: float) -> ControllerResult:
        """Handle the oldest key of the queue."""
        return _type(replace(self, queue=self.queue[1:]), self.queue[0], board, now)

    def mouse_down(self, hit: HitTarget | None, board: Board | None, now: float) -> ControllerResult:
        """Handle the left button going down on a card or pile: pick cards up, or put them down."""
        if board is None:
            return ControllerResult(self, message=NOT_DEALT)
        pointed = self.pointer.press(hit, self.grammar, board)
        found = self.found if pointed.key_result is None else None
        return _after_pointer(replace(self, drag=None, found=found), pointed, now)

    def mouse_move(self, hit: HitTarget | None, board: Board | None) -> RaceController:
        """Return the controller with a preview of the dragged cards.

        The preview is on the pile under the pointer. There is none if the pile does not take the cards.
        """
        if board is None or self.pointer.pressed_on is None:
            return self
        move = self.pointer.drop_move(hit, self.grammar, board)
        drag = MarkedMove(board, move) if move is not None else None
        return self if drag == self.drag else replace(self, drag=drag)

    def mouse_up(self, hit: HitTarget | None, board: Board | None, now: float) -> ControllerResult:
        """Handle the left button coming up: drop dragged cards, or complete a click or double click."""
        if board is None or self.pointer.pressed_on is None:
            return ControllerResult(self)
        pointed = self.pointer.release(hit, self.grammar, board, now)
        return _after_pointer(replace(self, drag=None), pointed, now)

    def cancel(self, board: Board | None, now: float) -> ControllerResult:
        """Cancel the move or command that the player has begun. All mouse buttons except the left one do this."""
        if board is None:
            return ControllerResult(self, message=NOT_DEALT)
        return _after(self, KeyResult(KeyGrammar(self.grammar.bindings), Cancelled(self.grammar.idle)), now)

    def marks(self, board: Board, last: Step | None) -> Marks:
        """Return the marks on a board. ``last`` is the step that led to the board."""
        arrived = arrived_cards(board, last)
        source = self.grammar.source
        if not source:
            hint = self.hint.move if self.hint is not None and self.hint.board == board else None
            return Marks(last=arrived, found=self.found, hint=hint)
        return replace(selection_marks(board, source, self.grammar.size, last=arrived), found=self.found)

    def preview(self, board: Board) -> DragPreview | None:
        """Return the preview of the dragged cards on the pile under the pointer.

        Return None if no cards of ``board`` are being dragged, or if the pile does not take them.
        """
        return drag_preview(*self.drag) if self.drag is not None and self.drag.board == board else None

    def hinted(self, board: Board, move: Move) -> RaceController:
        """Return the controller with ``move`` as the hint on ``board``."""
        return replace(self, hint=MarkedMove(board, move))


def _type(controller: RaceController, key: str, board: Board, now: float) -> ControllerResult:
    grammar = controller.grammar
    if grammar.rejection and now - controller.rejected_at > DESTINATION_WINDOW:
        grammar = KeyGrammar(grammar.bindings)
    result = grammar.press(key, board)
    if (
        controller.hint is not None
        and controller.hint.board == board
        and (move := controller.hint.move).source == result.grammar.source != grammar.source
        and move_between(board, move.source, move.target) != move
    ):  # the hint is a smaller group than the keys would move by themselves
        result = grammar.select(move.source, board, move.size)
    return _after(replace(controller, found=None), result, now)


def _after_pointer(controller: RaceController, pointed: PointerResult, now: float) -> ControllerResult:
    moved = replace(controller, pointer=pointed.pointer)
    return ControllerResult(moved) if pointed.key_result is None else _after(moved, pointed.key_result, now)


def _after(controller: RaceController, result: KeyResult, now: float) -> ControllerResult:
    after = replace(controller, grammar=result.grammar, entry=None)
    effect: Effect = result.effect
    match effect:
        case Move() | KeyCommand():
            return ControllerResult(after, effect, "")
        case FindCard(card):
            return ControllerResult(replace(after, found=card & FACE), FindCard(Card(card & FACE)), "")
        case ViewPile(pile):
            return ControllerResult(replace(after, inspected=pile), message="")
        case Selected(sentence=sentence) | EntryPrompt(sentence=sentence):
            return ControllerResult(replace(after, entry=effect), message=sentence)
        case MoveChoice():
            return ControllerResult(replace(after, entry=effect), message="")
        case Rejected(sentence):
            return ControllerResult(replace(after, rejected_at=now), message=sentence)
        case Cancelled():
            return ControllerResult(replace(after, hint=None), message="")

"""One player's play of a deal: the board, how it came about, and what may be taken back.

A play is a frozen value like its board. Every accepted action, a move or ``undo``, raises its revision by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

from samedeal.board import Board, Step
from samedeal.errors import CannotUndo, StaleRevision
from samedeal.moves import Move

UNDO: Final = "undo"
"""The text of the action that takes back a move."""


class Undo(Enum):
    """What a race lets its players take back (ruling R10)."""

    FREE = "free"
    NO_REVEAL = "no-reveal"
    OFF = "off"


class Past(NamedTuple):
    """The newest move that was not taken back, and what was before it: shared by all plays that go on from it."""

    step: Step
    before: Past | None


@dataclass(frozen=True, slots=True)
class Play:
    """A board with its history.

    ``past`` are the moves not taken back; ``revision`` counts accepted actions; ``moves`` and ``undos`` count them apart
    (ruling R9); ``seen`` are the cards that the last action turned up for the first time. Plays are equal when all but
    their past is: that may be thousands of moves long.
    """

    board: Board
    undo_rule: Undo = Undo.NO_REVEAL
    past: Past | None = field(default=None, compare=False, repr=False)
    revision: int = 0
    moves: int = 0
    undos: int = 0
    seen: bytes = b""

    def act(self, action: Move | str, revision: int | None = None, faces: bytes | None = None) -> Play:
        """Take an action: a move, or the text of one, or ``undo``.

        ``revision``, where given, is the one that the action was made on; ``faces`` are as in ``Board.play``.
        Raises StaleRevision, MalformedText, IllegalMove, CannotUndo or UnseenCard; the play stays as it is.
        """
        if revision is not None and revision != self.revision:
            raise StaleRevision(f"The move was made on revision {revision}, the board is at revision {self.revision}")
        if action == UNDO:
            return self._undo()
        move = Move.parse(action) if isinstance(action, str) else action
        board, step = self.board.play(move, faces)
        return Play(
            board, self.undo_rule, Past(step, self.past), self.revision + 1, self.moves + 1, self.undos, step.seen
        )

    def _undo(self) -> Play:
        if self.past is None or self.why_no_undo:
            raise CannotUndo(self.why_no_undo)
        step, before = self.past
        board = self.board.take_back(step)
        return Play(board, self.undo_rule, before, self.revision + 1, self.moves, self.undos + 1)

    @property
    def last(self) -> Step | None:
        """The newest move that was not taken back."""
        return self.past.step if self.past is not None else None

    @property
    def why_no_undo(self) -> str | None:
        """Why the last move can't be taken back, as a sentence; None when it can."""
        if self.undo_rule is Undo.OFF:
            return "Nothing can be taken back: undo is off in this race"
        if self.past is None:
            return "There is no move to take back"
        if self.undo_rule is Undo.NO_REVEAL and self.past.step.seen:
            return "The last move turned up a card, and this race doesn't take back what was seen"
        return None

    @property
    def over(self) -> bool:
        """Whether nothing can follow: no legal move at all, and no undo in this race (ruling R7)."""
        return self.undo_rule is Undo.OFF and not self.board.won and not self.board.legal_moves()

    def masked(self) -> Play:
        """The play as its player may see it."""
        return replace(self, board=self.board.masked())

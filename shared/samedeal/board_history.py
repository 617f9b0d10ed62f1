"""A player's board in a race, with the actions that led to it.

A play is a frozen value, and so is its board. Every accepted action, whether a move or an undo, raises the revision by
one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

from samedeal.board import Board, Step
from samedeal.errors import CannotUndo, StaleRevision
from samedeal.legality import legal_moves
from samedeal.moves import Move

UNDO: Final = "undo"
"""The text of the action that undoes a move."""


class Undo(Enum):
    """The undo rule of a race: which moves a player may undo (RULES.md, ruling R10)."""

    FREE = "free"
    NO_REVEAL = "no-reveal"
    OFF = "off"


class Past(NamedTuple):
    """A linked list of the moves that were not undone, newest first.

    A play shares the older part of the list with the plays before it.
    """

    step: Step
    before: Past | None


@dataclass(frozen=True, slots=True)
class Play:
    """A board with its history of actions.

    ``past`` holds the moves that were not undone. ``revision`` counts all accepted actions. ``moves`` and ``undos``
    count the accepted moves and undos separately (RULES.md, ruling R9). ``seen`` holds the cards that the last action
    turned up for the first time. Comparisons ignore ``past``, which may be thousands of moves long.
    """

    board: Board
    undo_rule: Undo = Undo.NO_REVEAL
    past: Past | None = field(default=None, compare=False, repr=False)
    revision: int = 0
    moves: int = 0
    undos: int = 0
    seen: bytes = b""

    def act(self, action: Move | str, revision: int | None = None, faces: bytes | None = None) -> Play:
        """Return the play after an action: a move, a move as text, or ``undo``.

        ``faces`` is passed to ``Board.play``. Raise StaleRevision if ``revision`` is given and is not the current
        revision. Raise MalformedText if the text is not an action, CannotUndo if an undo is not possible, and the
        errors of ``Board.play``.
        """
        if revision is not None and revision != self.revision:
            raise StaleRevision(revision, self.revision)
        if action == UNDO:
            return self._undo()
        board, step = self.board.play(action, faces)
        return Play(
            board, self.undo_rule, Past(step, self.past), self.revision + 1, self.moves + 1, self.undos, step.seen
        )

    def _undo(self) -> Play:
        if self.past is None or self.why_no_undo:
            raise CannotUndo(self.why_no_undo)
        step, before = self.past
        board = self.board.undo(step)
        return Play(board, self.undo_rule, before, self.revision + 1, self.moves, self.undos + 1)

    @property
    def line(self) -> tuple[Move, ...]:
        """The moves that were not undone, the first one first. They lead from the first board to this one."""
        moves, past = [], self.past
        while past is not None:
            moves.append(past.step.move)
            past = past.before
        return tuple(reversed(moves))

    @property
    def last(self) -> Step | None:
        """The newest move that was not undone, or None."""
        return self.past.step if self.past is not None else None

    @property
    def why_no_undo(self) -> str | None:
        """A sentence that says why undo is not possible now, or None if it is possible."""
        if self.undo_rule is Undo.OFF:
            return "Undo is off in this race."
        if self.past is None:
            return "There is no move to undo."
        if self.undo_rule is Undo.NO_REVEAL and self.past.step.seen:
            return "The last move turned up a card. In this race such moves can't be undone."
        return None

    @property
    def no_moves_left(self) -> bool:
        """Whether no move is legal and the race forbids undo (RULES.md, ruling R7). It is false if the board is won."""
        return self.undo_rule is Undo.OFF and not self.board.won and not any(legal_moves(self.board))

    def masked(self) -> Play:
        """Return the play with a masked board, as its player may see it."""
        return replace(self, board=self.board.masked())

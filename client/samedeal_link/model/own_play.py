"""The player's own play: the acknowledged actions, and the later actions that the server has not answered yet.

Invariants:

- ``play`` is the play that the server has acknowledged. ``pending`` has the actions that were sent after it, in order.
  Each action names the revision that it applies to, and raises the revision by one. If the server refuses an action,
  the pending actions after the refused one are dropped too.
- ``shown`` is ``play`` with the pending actions up to, but not including, the first one that turns up an unseen card.
  That action and all later actions are not shown until the server has sent the card's face.
- If the client and the server disagree about the hash of the board or about the revision, ``out_of_sync`` is true. Then
  the shown board can't be trusted until the server has sent the whole board.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.errors import PlayError, UnseenCard
from samedeal.games import game_named
from samedeal.laws.stuck import FEW_MOVES, is_dead_end
from samedeal.moves import Move
from samedeal.protocol.messages import Acked, Act, BoardState, Refused
from samedeal_link.evidence.board_from_piles import masked_board


@dataclass(frozen=True, slots=True)
class Pending:
    """An unanswered action: the id of its Act, the revision it applies to, and its time in milliseconds since 1970."""

    id: int
    revision: int
    action: str
    time: int


@dataclass(frozen=True, slots=True)
class Rollback:
    """An action that the server refused, and the reason."""

    action: str
    code: str
    sentence: str


@dataclass(frozen=True)
class OwnPlay:
    """The player's own play, empty before the deal.

    ``first`` is the board as it was dealt, if this client saw the deal. ``actions`` has the acknowledged actions since
    the deal, each with its time, as in a record. If the newest message from the server refused an action, ``rollback``
    is this action. A client that joins the race again gets a board without the moves that led to it.
    ``unknown_is_undoable`` is true if the server can undo the newest of these unknown moves.
    """

    play: Play | None = None
    pending: tuple[Pending, ...] = ()
    shown: Play | None = None
    first: Board | None = None
    actions: tuple[tuple[int, str], ...] = ()
    rollback: Rollback | None = None
    unknown_is_undoable: bool = True
    out_of_sync: bool = False

    @property
    def is_stuck(self) -> bool:
        """Whether a short search proves that no sequence of moves can improve the result.

        Undo is not considered. The search takes a few milliseconds at most, once for each board.
        """
        return self.play is not None and is_dead_end(self.play.board, FEW_MOVES)

    @property
    def awaiting_face(self) -> bool:
        """Whether an action is waiting for the server to turn up a card.

        Until the card is known, the client can neither show later actions nor check whether they are legal.
        """
        return self.shown is not None and self.shown.revision < self.next_revision

    @property
    def next_revision(self) -> int:
        """The revision that the next action applies to."""
        acknowledged = self.play.revision if self.play else 0
        return max([acknowledged, *(pending.revision + 1 for pending in self.pending)])

    @property
    def may_undo(self) -> bool:
        """Whether the newest action can be undone, as far as this client knows."""
        if self._undo_is_unknown:
            return self.unknown_is_undoable
        return self.shown is not None and self.shown.why_no_undo is None

    @property
    def _undo_is_unknown(self) -> bool:
        """Whether an undo would restore a board that this client does not know.

        Only the server can then tell whether the undo is allowed.
        """
        shown = self.shown
        return shown is not None and shown.undo_rule is not Undo.OFF and shown.last is None and self.first is None

    def with_action(self, action: Move | str, number: int, now: int) -> tuple[OwnPlay, Act]:
        """Return the play after an action, and the Act with the id ``number`` that the client has to send.

        ``now`` is the server time in milliseconds since 1970. If the result depends on an unseen card, the board stays
        as it is until the server answers. Raise PlayError if the server is certain to refuse the action.
        """
        if self.shown is None:
            raise PlayError("There are no cards yet. They are dealt when the race starts.")
        text = str(action)
        if not self.awaiting_face and not (text == UNDO and self._undo_is_unknown):
            with suppress(UnseenCard):
                self.shown.act(text)
        act = Act(id=number, revision=self.next_revision, action=text)
        pending = (*self.pending, Pending(number, act.revision, text, now))
        return _predicted(replace(self, pending=pending, rollback=None)), act

    def with_board(self, state: BoardState, undo_rule: Undo) -> OwnPlay:
        """Return the play after the server's message ``state``, which has the whole board."""
        if self._will_reach(state.revision):
            return self
        board = masked_board(game_named(state.game), state.piles)
        received = OwnPlay(
            play=Play(board, undo_rule, revision=state.revision, moves=state.moves, undos=state.undos),
            pending=self.pending,
            first=board if state.revision == 0 else None,
            rollback=self.rollback,
            unknown_is_undoable=state.may_undo,
            out_of_sync=board.state_hash() != state.hash,
        )
        return _predicted(received)

    def _will_reach(self, revision: int) -> bool:
        """Return whether the answers to the pending actions will bring the play to ``revision``.

        If they do, the play needs no new board of that revision.
        """
        if self.play is None or self.out_of_sync or revision == 0:
            return False
        awaited = {pending.revision for pending in self.pending}
        return awaited.issuperset(range(self.play.revision, revision))

    def acked(self, answer: Acked, race_start: int) -> OwnPlay:
        """Return the play after an acknowledgement. ``race_start`` is in milliseconds since 1970."""
        pending = self._pending(answer.to)
        if pending is None or self.play is None:
            return self
        rest = replace(self, pending=tuple(each for each in self.pending if each is not pending))
        if pending.revision < self.play.revision:
            return _predicted(rest)
        play = _acknowledged(self.play, pending.action, answer) if pending.revision == self.play.revision else None
        if play is None or play.board.state_hash() != answer.hash:
            return _predicted(replace(rest, out_of_sync=True))
        time = max(answer.time - race_start, 0)
        acknowledged = replace(
            rest,
            play=play,
            unknown_is_undoable=answer.may_undo if play.last is None else self.unknown_is_undoable,
            actions=(*self.actions, (time, pending.action)) if self.first is not None else self.actions,
        )
        return _predicted(acknowledged)

    def refused(self, refusal: Refused) -> OwnPlay:
        """Return the play after a refusal. The refused action and all pending actions after it are dropped."""
        pending = self._pending(refusal.to)
        if pending is None:
            return self
        before = tuple(each for each in self.pending if each.revision < pending.revision)
        expected = self.play.revision + len(before) if self.play else -1
        refused = replace(
            self,
            pending=before,
            rollback=Rollback(pending.action, refusal.code, refusal.message),
            out_of_sync=self.out_of_sync or (refusal.revision >= 0 and refusal.revision != expected),
        )
        return _predicted(refused)

    def _pending(self, number: int) -> Pending | None:
        return next((pending for pending in self.pending if pending.id == number), None)


def _predicted(own: OwnPlay) -> OwnPlay:
    """Return the play with ``shown`` computed from ``play`` and ``pending``."""
    shown = own.play
    if shown is not None:
        for pending in own.pending:
            if pending.revision < shown.revision:
                continue
            try:
                shown = shown.act(pending.action, pending.revision)
            except PlayError:
                break
    return replace(own, shown=shown)


def _acknowledged(play: Play, action: str, answer: Acked) -> Play | None:
    """Return the play after an acknowledged action, or None if the action is impossible in this play."""
    if action == UNDO and answer.piles and play.last is None:
        board = masked_board(play.board.game, answer.piles)
        return Play(board, play.undo_rule, revision=play.revision + 1, moves=play.moves, undos=play.undos + 1)
    try:
        return play.act(action, faces=answer.seen or None)
    except (PlayError, ValueError):
        return None

"""A player's knowledge of the board, and the choice of the next actions. Pure, apart from its random generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from samedeal.board_history import UNDO, Play, Undo
from samedeal.errors import PlayError
from samedeal.protocol.messages import Acked, Act, BoardState, Refused, RoomState, ToClient
from samedeal_link.model.own_play import OwnPlay

RETRIED_CODES: Final = frozenset(("unavailable", "draining", "rate_limited"))
"""Refusals after which the client retries the request."""

FINAL_CODES: Final = frozenset(("time_up", "already_finished"))
"""Refusals after which the player waits for the end of the race."""


class PlayerModel:
    """A player's model of a race, with the own play of a real client. ``winning_actions`` win the deal; empty if unknown."""

    def __init__(self, rng: Random, undo: str, winning_actions: Sequence[str] = ()) -> None:
        self.own = OwnPlay()
        self.room: RoomState | None = None
        self.time_is_up = False
        self._rng = rng
        self._undo = Undo(undo)
        self._winning_actions = winning_actions

    @property
    def revision(self) -> int:
        """The revision of the board, -1 if it is unknown or out of sync."""
        return -1 if self.own.play is None or self.own.out_of_sync else self.own.play.revision

    @property
    def finished(self) -> bool:
        """Whether the race is over."""
        return self.room is not None and self.room.phase in ("finished", "closed")

    @property
    def playing(self) -> bool:
        """Whether this player can still act, as far as the model knows."""
        play = self.own.play
        return play is not None and not (self.finished or self.time_is_up or play.board.won or play.no_moves_left)

    @property
    def may_begin(self) -> bool:
        """Whether the race has a window, in which this player has no board yet."""
        room = self.room
        return room is not None and bool(room.window) and room.phase == "racing" and self.own.play is None

    @property
    def pending(self) -> list[Act]:
        """The unanswered actions."""
        return [Act(id=each.id, revision=each.revision, action=each.action) for each in self.own.pending]

    def resync(self) -> bool:
        """Forget a board that is out of sync, so that the server's next one counts. Return whether it was."""
        out_of_sync = self.own.out_of_sync
        if out_of_sync:
            self.own = OwnPlay()
        return out_of_sync

    def receive(self, message: ToClient) -> None:
        """Update the model from a message."""
        match message:
            case RoomState():
                self.room = message
            case BoardState():
                self.own = self.own.with_board(message, self._undo)
            case Acked():
                self.own = self.own.acked(message, 0)
            case Refused(code=code) if code in FINAL_CODES:
                self.time_is_up = True
                self.own = replace(self.own, pending=())
            case Refused(code=code) if code not in RETRIED_CODES:
                is_behind = self.own.play is not None and message.revision > self.own.next_revision
                own = self.own.refused(message)
                self.own = replace(own, out_of_sync=own.out_of_sync or is_behind)
            case _:
                pass

    def next_acts(self, new_id: Callable[[], int]) -> list[Act]:
        """Return the actions to send now: mostly one, sometimes several or an invalid one."""
        if self.revision < 0 or self.time_is_up or self.own.pending or self.finished:
            return []
        if wrong := self._invalid_act(new_id):
            return [wrong]
        acts: list[Act] = []
        for _ in range(3 if self._rng.random() < 0.1 else 1):
            shown, number, revision = self.own.shown, new_id(), self.own.next_revision
            if shown is None or shown.revision < revision or (action := self._choose_action(shown)) is None:
                break
            try:
                self.own, act = self.own.with_action(action, number, 0)
            except PlayError:  # an undo that the server refuses too
                act = Act(id=number, revision=revision, action=action)
            acts.append(act)
            if action == UNDO:
                break
        return acts

    def _choose_action(self, play: Play) -> str | None:
        done = play.moves - play.undos
        if self._winning_actions:
            return self._winning_actions[done] if done < len(self._winning_actions) else None
        if play.moves > play.undos and self._undo is not Undo.OFF and self._rng.random() < 0.08:
            return UNDO
        moves = play.board.legal_moves()
        return str(self._rng.choice(moves)) if moves else None

    def _invalid_act(self, new_id: Callable[[], int]) -> Act | None:
        if self.own.play is None:
            return None
        revision = self.own.play.revision
        chance = self._rng.random()
        if chance < 0.03:
            keys = [*self.own.play.board.game.keys, "0"]
            action = f"{self._rng.choice(keys)} {self._rng.choice(keys)}"
            return Act(id=new_id(), revision=revision + 2, action=action)
        if chance < 0.06:
            return Act(
                id=new_id(), revision=revision, action=self._rng.choice(["9 9", "1 1", "z 3", "fold", "1 0 x50"])
            )
        if chance < 0.08 and revision > 0:
            return Act(id=new_id(), revision=revision - 1, action="1 2")
        return None

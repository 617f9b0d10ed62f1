"""A player's knowledge of the board, and the choice of the next actions. Pure, apart from its random generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.errors import SamedealError
from samedeal.games import game_named
from samedeal.moves import Move
from samedeal.protocol.messages import Acked, Act, BoardState, Refused, RoomState, ToClient

RETRIED_CODES: Final = frozenset(("unavailable", "draining", "rate_limited"))
"""Refusals after which the client retries the request."""

FINAL_CODES: Final = frozenset(("time_up", "already_finished"))
"""Refusals after which the player waits for the end of the race."""


class PlayerModel:
    """A player's model of a race. ``winning_actions`` win the deal; empty if unknown."""

    def __init__(self, rng: Random, undo: str, winning_actions: Sequence[str] = ()) -> None:
        self.play: Play | None = None
        self.room: RoomState | None = None
        self.pending: list[Act] = []
        self.out_of_sync = False
        self.time_is_up = False
        self.complaints: list[str] = []
        self._rng = rng
        self._undo = Undo(undo)
        self._winning_actions = winning_actions
        self._tried: dict[int, Act] = {}

    @property
    def revision(self) -> int:
        """The revision of the board, -1 if it is unknown or out of sync."""
        return -1 if self.play is None or self.out_of_sync else self.play.revision

    @property
    def finished(self) -> bool:
        """Whether the race is over."""
        return self.room is not None and self.room.phase in ("finished", "closed")

    @property
    def playing(self) -> bool:
        """Whether this player can still act, as far as the model knows."""
        return self.play is not None and not (
            self.finished or self.time_is_up or self.play.board.won or self.play.no_moves_left
        )

    def receive(self, message: ToClient) -> None:
        """Update the model from a message."""
        match message:
            case RoomState():
                self.room = message
            case BoardState(game=game, piles=piles):
                self.play = Play(
                    Board(game_named(game), piles),
                    self._undo,
                    revision=message.revision,
                    moves=message.moves,
                    undos=message.undos,
                )
                self.out_of_sync = False
                self._check(message.hash, message.revision)
                self.pending = [act for act in self.pending if act.revision >= message.revision]
            case Acked():
                self._acked(message)
            case Refused():
                self._refused(message)
            case _:
                pass

    def _acked(self, ack: Acked) -> None:
        act = self._tried.get(ack.to)
        self.pending = [each for each in self.pending if each.id != ack.to]
        if act is None or self.play is None or act.revision < self.play.revision:
            return
        if act.revision > self.play.revision:
            self.out_of_sync = True
            return
        if act.action == UNDO:
            board = Board(self.play.board.game, ack.piles)
            self.play = Play(
                board, self._undo, revision=act.revision + 1, moves=self.play.moves, undos=self.play.undos + 1
            )
        else:
            try:
                self.play = self.play.act(act.action, faces=ack.seen or None)
            except (SamedealError, ValueError) as error:
                self.complaints.append(
                    f"was acked {act.action!r} on revision {act.revision}, which is impossible: {error}"
                )
                self.out_of_sync = True
                return
        self._check(ack.hash, act.revision + 1)

    def _check(self, state_hash: bytes, revision: int) -> None:
        if self.play is not None and self.play.board.state_hash() != state_hash:
            self.complaints.append(f"has another board at revision {revision} than the server's hash says")
            self.out_of_sync = True

    def _refused(self, refusal: Refused) -> None:
        if refusal.to not in self._tried or refusal.code in RETRIED_CODES:
            return
        if refusal.code in FINAL_CODES:
            self.time_is_up = True
            self.pending.clear()
        elif any(each.id == refusal.to for each in self.pending):
            self.pending.clear()
            self.out_of_sync = True
        elif self.play is not None and refusal.revision > self.play.revision + len(self.pending):
            self.out_of_sync = True

    def next_acts(self, new_id: Callable[[], int]) -> list[Act]:
        """Return the actions to send now: mostly one, sometimes several or an invalid one."""
        if self.play is None or self.out_of_sync or self.time_is_up or self.pending or self.finished:
            return []
        if wrong := self._invalid_act(new_id):
            self._tried[wrong.id] = wrong
            return [wrong]
        acts: list[Act] = []
        play = self.play
        for _ in range(3 if self._rng.random() < 0.1 else 1):
            action = self._choose_action(play)
            if action is None:
                break
            acts.append(Act(id=new_id(), revision=play.revision, action=action))
            if action == UNDO or play.board.turns_up(Move.parse(action)):
                break
            play = play.act(action)
        self.pending = acts
        self._tried |= {act.id: act for act in acts}
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
        if self.play is None:
            return None
        revision = self.play.revision
        chance = self._rng.random()
        if chance < 0.03:
            keys = [*self.play.board.game.keys, "0"]
            action = f"{self._rng.choice(keys)} {self._rng.choice(keys)}"
            return Act(id=new_id(), revision=revision + 2, action=action)
        if chance < 0.06:
            return Act(
                id=new_id(), revision=revision, action=self._rng.choice(["9 9", "1 1", "z 3", "fold", "1 0 x50"])
            )
        if chance < 0.08 and revision > 0:
            return Act(id=new_id(), revision=revision - 1, action="1 2")
        return None

"""What one player of a round knows of their board, and what they try next. Pure but for its source of chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.errors import SamedealError
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import Acked, Act, BoardState, Refused, RoomState, ToClient

AGAIN: Final = frozenset(("unavailable", "draining", "rate_limited"))
"""Refusals after which the same request is made again."""

OVER: Final = frozenset(("time_up", "done"))
"""Refusals after which a player only waits for the end."""


class Brain:
    """A player: ``way`` are the moves that lead home from the deal, where they are known."""

    def __init__(self, rng: Random, undo: str, way: Sequence[str] = ()) -> None:
        self.play: Play | None = None
        self.room: RoomState | None = None
        self.pending: list[Act] = []
        self.lost = False
        self.resting = False
        self.complaints: list[str] = []
        self._rng = rng
        self._undo = Undo(undo)
        self._way = way
        self._tried: dict[int, Act] = {}

    @property
    def revision(self) -> int:
        """The revision of the board, -1 where there is none or it is not to be trusted."""
        return -1 if self.play is None or self.lost else self.play.revision

    @property
    def finished(self) -> bool:
        """Whether the race is over."""
        return self.room is not None and self.room.phase in ("finished", "closed")

    @property
    def playing(self) -> bool:
        """Whether the race goes on for this player, as far as is known."""
        return self.play is not None and not (self.finished or self.resting or self.play.board.won or self.play.over)

    def take(self, message: ToClient) -> None:
        """Learn from what was told."""
        match message:
            case RoomState():
                self.room = message
            case BoardState(game=game, piles=piles):
                self.play = Play(
                    Board(Game.named(game), piles),
                    self._undo,
                    revision=message.revision,
                    moves=message.moves,
                    undos=message.undos,
                )
                self.lost = False
                self._check(message.hash, message.revision)
                self.pending = [act for act in self.pending if act.revision >= message.revision]
            case Acked():
                self._acked(message)
            case Refused():
                self._refused(message)

    def _acked(self, ack: Acked) -> None:
        act = self._tried.get(ack.to)
        self.pending = [each for each in self.pending if each.id != ack.to]
        if act is None or self.play is None or ack.revision <= self.play.revision:
            return
        if ack.revision > self.play.revision + 1:
            self.lost = True
            return
        if act.action == UNDO:
            board = Board(self.play.board.game, ack.piles)
            self.play = Play(board, self._undo, revision=ack.revision, moves=ack.moves, undos=ack.undos)
        else:
            try:
                self.play = self.play.act(act.action, faces=ack.seen or None)
            except (SamedealError, ValueError) as error:
                self.complaints.append(f"was acked {act.action!r} on revision {act.revision}, which can't be: {error}")
                self.lost = True
                return
        self._check(ack.hash, ack.revision)

    def _check(self, state_hash: bytes, revision: int) -> None:
        if self.play is not None and self.play.board.state_hash() != state_hash:
            self.complaints.append(f"has another board at revision {revision} than the server's hash says")
            self.lost = True

    def _refused(self, refusal: Refused) -> None:
        if refusal.to not in self._tried or refusal.code in AGAIN:
            return
        if refusal.code in OVER:
            self.resting = True
            self.pending.clear()
        elif any(each.id == refusal.to for each in self.pending):
            self.pending.clear()
            self.lost = True
        elif self.play is not None and refusal.revision > self.play.revision + len(self.pending):
            self.lost = True

    # ---------------------------------------------------------------- what to do

    def next(self, new_id: Callable[[], int]) -> list[Act]:
        """What to send now: often one action, at times several or a wrong one."""
        if self.play is None or self.lost or self.resting or self.pending or self.finished:
            return []
        if wrong := self._mischief(new_id):
            self._tried[wrong.id] = wrong
            return [wrong]
        acts: list[Act] = []
        play = self.play
        for _ in range(3 if self._rng.random() < 0.1 else 1):
            action = self._choice(play)
            if action is None:
                break
            acts.append(Act(id=new_id(), revision=play.revision, action=action))
            if action == UNDO or play.board.turns_up(Move.parse(action)):
                break
            play = play.act(action)
        self.pending = acts
        self._tried |= {act.id: act for act in acts}
        return acts

    def _choice(self, play: Play) -> str | None:
        done = play.moves - play.undos
        if self._way:
            return self._way[done] if done < len(self._way) else None
        if play.moves > play.undos and self._undo is not Undo.OFF and self._rng.random() < 0.08:
            return UNDO
        moves = play.board.legal_moves()
        return str(self._rng.choice(moves)) if moves else None

    def _mischief(self, new_id: Callable[[], int]) -> Act | None:
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

"""A race with its boards, as one process holds it that plays a server: practice, and the stand-ins in tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from msgspec import structs

from samedeal.board_history import Play
from samedeal.protocol.messages import BoardState, RoomState
from samedeal.race.commands import RaceCommand, TickCommand
from samedeal.race.draws import first_board
from samedeal.race.moving import begin, commit
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.room_state import board_state, room_state
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, Race
from samedeal.sentences import refused

PRESENT: Final = Progress(connected=True, last_seen=1 << 46)
"""The progress of a player who has not acted, and never seems absent."""


@dataclass(frozen=True)
class HeldRace:
    """A race, the progress of its players, and their plays from the deal on. ``event`` rises with each change."""

    race: Race
    secret: DealSecret
    progress: Mapping[str, Progress] = field(default_factory=dict)
    plays: Mapping[str, Play] = field(default_factory=dict)
    event: int = 1

    def told(self, command: RaceCommand, now: int) -> Self:
        """Return the race after a command at the time ``now``. Raise RequestRefused as ``apply`` does."""
        race, changes = apply(self.race, command, now)
        return replace(self, race=race, event=self.event + bool(changes))

    def passed(self, now: int) -> Self:
        """Return the race at the time ``now``."""
        return self.told(TickCommand(self.progress_of_all, self.secret), now)

    def begun(self, player: str, now: int) -> Self:
        """Return the race after a player has begun an attempt in its window. Raise RequestRefused if the race forbids it."""
        progress = begin(self.race, self.progress_of(player), player, now)
        return replace(self, progress={**self.progress, player: progress}, event=self.event + 1)

    def acted(self, player: str, action: str, now: int, revision: int | None = None) -> Self:
        """Return the race after a player's action, for a board at ``revision`` if that is given.

        Raise SamedealError if the rules of the game or of the race forbid it.
        """
        return self.played(player, action, self.play(player).act(action, revision), now)

    def played(self, player: str, action: str, play: Play, now: int) -> Self:
        """Return the race after an action that led to ``play``. Raise RequestRefused if the race forbids it."""
        race, progress = commit(self.race, self.progress_of(player), MoveCommitted.of(player, action, play), now)
        own, plays = {**self.progress, player: progress}, {**self.plays, player: play}
        return replace(self, race=race, progress=own, plays=plays, event=self.event + 1)

    def with_plays(self, plays: Mapping[str, Play], time: int = 0) -> Self:
        """Return the race in which players have plays of their own, which began with the cards of a moment ``time``."""
        progress = dict(self.progress)
        for player, play in plays.items():
            if cards := play.board.foundation_cards:
                own = self.progress_of(player)
                progress[player] = structs.replace(own, foundation_cards=cards, last_progress_at=time)
        return replace(self, plays={**self.plays, **plays}, progress=progress)

    def play(self, player: str) -> Play:
        """Return the play of a player. Raise RequestRefused if the cards have not been dealt."""
        if player in self.plays:
            return self.plays[player]
        is_dealt = not self.race.is_waiting and self.race.began_at(self.progress_of(player))
        board = first_board(self.race, self.secret) if is_dealt else None
        if board is None:
            raise refused("not_dealt")
        return Play(board, self.race.options.undo_rule)

    def progress_of(self, player: str) -> Progress:
        """Return the progress of a player, who is always there."""
        return self.progress.get(player, PRESENT)

    @property
    def progress_of_all(self) -> dict[str, Progress]:
        """The progress of all players with a seat."""
        return {racer.player: self.progress_of(racer.player) for racer in self.race.racers}

    def state(self, now: int, player: str = "") -> RoomState:
        """Return what everybody in the room may see at the time ``now``, or in an open window what ``player`` may see."""
        return room_state(self.race, self.progress_of_all, self.event, 0, now, player)

    def board_state(self, player: str, head: bytes = b"") -> BoardState:
        """Return the message with a player's own board. Raise RequestRefused if the cards have not been dealt."""
        return board_state(self.race.room, self.play(player), head)

"""The progress of a player in a race, and what a move does to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from samedeal.board_history import Play

ABSENT_AFTER: Final = 45_000
"""Time, in milliseconds, without a sign of life from a player after which the player counts as disconnected."""


class MoveCommitted(Struct, frozen=True, array_like=True):
    """A player's action that was committed, after which the player's board is at ``revision``. It is an event of the room.

    ``foundation_cards``, ``moves`` and ``undos`` are the player's counts after the action. It is encoded as an
    array, because the names of the fields would double its size.
    """

    player: str
    revision: int
    action: str
    seen: bytes
    # These counts are separate fields in messages, events and log entries. BoardState, for example, lacks one of them.
    # In Redis, too, each is a field of its own, which commit_action.lua writes. A struct of the three would make a
    # message 8 bytes larger and its encoding 0.05 µs slower, and existing clients could not read it.
    foundation_cards: int
    moves: int
    undos: int
    finished: bool
    no_moves_left: bool

    @classmethod
    def of(cls, player: str, action: str, play: Play) -> Self:
        """Return the action of a player that led to ``play``."""
        cards, won, no_moves_left = play.board.foundation_cards, play.board.won, play.no_moves_left
        return cls(player, play.revision, action, play.seen, cards, play.moves, play.undos, won, no_moves_left)


class Progress(Struct, frozen=True):
    """A player's progress in a race. Times are in milliseconds since 1970, and 0 until the event has happened.

    ``generation`` is the number of the player's newest connection, and ``last_seen`` is the time of its last sign of
    life. ``last_progress_at`` is when ``foundation_cards`` last changed. ``no_moves_left_at`` is when the player had no
    legal move left, in a room that does not allow undo. ``began_at`` is when the player began, in a race with a window.
    """

    generation: int = 0
    revision: int = 0
    foundation_cards: int = 0
    moves: int = 0
    undos: int = 0
    last_action_at: int = 0
    last_progress_at: int = 0
    finished_at: int = 0
    no_moves_left_at: int = 0
    last_seen: int = 0
    connected: bool = False
    began_at: int = 0

    def after(self, moved: MoveCommitted, time: int) -> Self:
        """Return the progress after an action that was committed at ``time``, as ``commit_action.lua`` stores it."""
        has_gained = moved.foundation_cards != self.foundation_cards
        return replace(
            self,
            revision=moved.revision,
            foundation_cards=moved.foundation_cards,
            moves=moved.moves,
            undos=moved.undos,
            last_action_at=time,
            last_progress_at=time if has_gained else self.last_progress_at,
            finished_at=time if moved.finished else self.finished_at,
            no_moves_left_at=time if moved.no_moves_left and not moved.finished else self.no_moves_left_at,
            last_seen=max(time, self.last_seen),
            connected=True,
        )


ProgressByPlayer = Mapping[str, Progress]


def is_connected(progress: Progress, now: int) -> bool:
    """Return whether a player was connected to some node a short while ago."""
    return progress.connected and now - progress.last_seen < ABSENT_AFTER

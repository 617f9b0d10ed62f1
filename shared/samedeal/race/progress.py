"""The progress of a player in a race."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

ABSENT_AFTER: Final = 45_000
"""Time, in milliseconds, without a sign of life from a player after which the player counts as disconnected."""


class Progress(Struct, frozen=True):
    """A player's progress in a race. Times are in milliseconds since 1970, and 0 until the event has happened.

    ``generation`` is the number of the player's newest connection, and ``last_seen`` is the time of its last sign of
    life. ``last_progress_at`` is when ``foundation_cards`` last changed. ``no_moves_left_at`` is when the player had no
    legal move left, in a room that does not allow undo.
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


ProgressByPlayer = Mapping[str, Progress]

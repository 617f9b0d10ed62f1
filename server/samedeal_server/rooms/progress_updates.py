"""Coalesced updates of the counts that all players of a room may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from samedeal_server.loop_timers import Alarm, Timers

PROGRESS_INTERVAL: Final = 0.1
"""Minimum time, in seconds, between two updates."""


class ProgressUpdates:
    """Collects the players whose counts have changed, and sends these counts in one update.

    ``send`` is called with the players' ids and the time of the oldest queued move, in milliseconds. The time is 0 if
    no move is queued.
    """

    __slots__ = ("_alarm", "_moved_at", "_players", "_send")

    def __init__(self, timers: Timers, send: Callable[[set[str], int], None]) -> None:
        self._send = send
        self._players: set[str] = set()
        self._moved_at = 0
        self._alarm = Alarm(timers, self.flush)

    @property
    def pending(self) -> bool:
        """Whether an update is due."""
        return self._alarm.is_set

    def queue(self, player: str, moved_at: int = 0) -> None:
        """Send a player's counts with the next update. If a move changed them, ``moved_at`` is its time, in milliseconds."""
        self._players.add(player)
        self._moved_at = self._moved_at or moved_at
        self.schedule()

    def schedule(self) -> None:
        """Send an update soon, even if no counts changed."""
        if not self._alarm.is_set:
            self._alarm.set(PROGRESS_INTERVAL)

    def close(self) -> None:
        """Send nothing more."""
        self._alarm.close()

    def flush(self) -> None:
        """Send the queued changes now."""
        self._alarm.cancel()
        players, self._players = self._players, set()
        moved_at, self._moved_at = self._moved_at, 0
        self._send(players, moved_at)

"""Updates of players' counts. What changes within a short time is sent together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from samedeal_server.loop_timers import Alarm, Timers

PROGRESS_INTERVAL: Final = 0.1
"""Time, in seconds, for which changes are collected before they are sent."""

CROWD_INTERVAL: Final = 1.0
"""The same in a room with more racers than a client can ask for seats.

Each change goes to all of them, so the price of a move would otherwise grow with their number.
"""


def _send_nothing(_players: set[str], _moved_at: int) -> None: ...


class ProgressUpdates:
    """Collects the players whose counts have changed, and sends their counts together.

    ``send`` is called with the ids of these players and the time of the oldest collected move, in milliseconds since
    1970. The time is 0 if no move was collected. ``is_crowded`` says whether the room has many racers.
    """

    __slots__ = ("_alarm", "_is_crowded", "_moved_at", "_players", "_send")

    def __init__(
        self, timers: Timers, send: Callable[[set[str], int], None], is_crowded: Callable[[], bool] = lambda: False
    ) -> None:
        self._send = send
        self._is_crowded = is_crowded
        self._players: set[str] = set()
        self._moved_at = 0
        self._alarm = Alarm(timers, self.flush)

    def queue(self, player: str, moved_at: int = 0) -> None:
        """Send a player's counts with the next update.

        ``moved_at`` is the time of the move that changed the counts, in milliseconds since 1970, or 0 if no move did.
        """
        self._players.add(player)
        self._moved_at = self._moved_at or moved_at
        self.schedule()

    def schedule(self) -> None:
        """Send an update soon, even if no counts have changed."""
        if not self._alarm.is_set:
            self._alarm.set(CROWD_INTERVAL if self._is_crowded() else PROGRESS_INTERVAL)

    def close(self) -> None:
        """Stop sending updates, and keep no reference to ``send``."""
        self._send, self._is_crowded = _send_nothing, bool
        self._alarm.close()

    def flush(self) -> None:
        """Send the collected changes now."""
        self._alarm.cancel()
        players, self._players = self._players, set()
        moved_at, self._moved_at = self._moved_at, 0
        self._send(players, moved_at)

"""What one client may ask for, and how much a node holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of a node, but for ``rooms``, which bounds all nodes together.

    ``rate`` and ``burst`` are what a connection may ask for a second and at once; a move costs 1. ``bad_frames`` are those
    that may come within a minute. Times in seconds, backlogs in frames.
    """

    connections: int = 10_000
    connections_per_address: int = 200
    rooms: int = 10_000
    spectators_per_room: int = 2_000
    rate: float = 40.0
    burst: int = 120
    bad_frames: int = 20
    hello_timeout: float = 10.0
    backlog: int = 512
    late_backlog: int = 64
    actions_per_race: int = 10_000


class Bucket:
    """A token bucket: ``rate`` tokens a second, ``burst`` at the most; it lends, and time is an argument."""

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._then = now

    def take(self, now: float, tokens: int = 1) -> float:
        """Take tokens; returns the seconds until what was lent is paid back, 0 when there were enough."""
        self._tokens = min(self._burst, self._tokens + self._rate * (now - self._then)) - tokens
        self._then = now
        return max(0.0, -self._tokens / self._rate)

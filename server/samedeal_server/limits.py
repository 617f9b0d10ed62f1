"""What one client may ask for, and how much a node holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of a node. Rates are messages a second with a burst; times in seconds."""

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
    actions_per_race: int = 20_000


class Bucket:
    """A token bucket: ``rate`` tokens a second, ``burst`` at the most; time is an argument."""

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._then = now

    def take(self, now: float) -> float:
        """Take a token: 0 when there was one, else the seconds until there is."""
        self._tokens = min(self._burst, self._tokens + self._rate * (now - self._then))
        self._then = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self._rate

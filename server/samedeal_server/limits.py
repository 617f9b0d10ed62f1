"""What one client may ask for, and how much a node holds."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal_server.settings import setting


@dataclass(frozen=True)
class Limits:
    """Bounds of a node, but for ``rooms``, which bounds all nodes together. A move costs 1 of ``rate`` and ``burst``."""

    connections: int = setting(10_000, "connections of this node", metavar="N", least=1)
    connections_per_address: int = setting(200, "connections from one address", metavar="N", least=1)
    rooms: int = setting(10_000, "rooms of all nodes together", metavar="N", least=1)
    spectators_per_room: int = setting(2_000, "spectators of a room through this node", metavar="N", least=0)
    rate: float = setting(40.0, "moves that a connection may make in a second", metavar="N", least=0.1)
    burst: int = setting(120, "moves that a connection may make at once", metavar="N", least=20)
    bad_frames: int = setting(
        20, "frames that can't be read which a connection may send in a minute", metavar="N", least=0
    )
    hello_timeout: float = setting(10.0, "seconds in which a client has to say who it is", metavar="SECONDS", least=0.1)
    backlog: int = setting(512, "frames that wait for a client before it is cut", metavar="N", least=16)
    late_backlog: int = setting(
        64, "frames that wait for a spectator before it skips to the newest boards", metavar="N", least=1
    )
    actions_per_race: int = setting(10_000, "moves of a player in a race", metavar="N", least=1)


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

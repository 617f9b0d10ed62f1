"""What a client can tell of the times that the server names. Pure.

Networks delay as well, so what it finds is neutral: no verdict depends on it.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

_TOLERANCE: Final = 100
"""Time, in milliseconds, by which clocks may drift during a race."""

_SLOW: Final = 1000
"""Time, in milliseconds, by which an answer is late if it takes this much longer than the fastest one."""


class RaceClock(Struct, frozen=True):
    """What the client knows about the server's clock. All values are in milliseconds.

    ``low`` and ``high`` bound the difference between the server's clock and the local one. Once the countdown begins, they
    are fixed and only come closer. ``fastest`` is the shortest round trip. ``entered_at`` is the local time at which the
    player came into the room, or came back. The methods that return a time return 0 or less if nothing is strange.
    """

    low: int = -(1 << 60)
    high: int = 1 << 60
    fastest: int = 1 << 60
    is_fixed: bool = False
    entered_at: int = 0

    @property
    def is_known(self) -> bool:
        """Whether there was an exchange with the server."""
        return self.fastest < 1 << 60

    def exchanged(self, sent: int, received: int, server: int) -> RaceClock:
        """Return the clock after a ping that was sent and answered at these local times."""
        fastest = min(self.fastest, received - sent)
        low, high = max(self.low, server - received), min(self.high, server - sent)
        if low > high:  # the server's clock was set
            low, high = (self.low, self.high) if self.is_fixed else (server - received, server - sent)
        return replace(self, low=low, high=high, fastest=fastest)

    def acted(self, sent: int, received: int, server: int) -> RaceClock:
        """Return the clock after an action: before any ping was answered, its date bounds what a ping may tell."""
        if self.is_known:
            return self
        return replace(self.exchanged(sent, received, server), fastest=self.fastest, is_fixed=True)

    def set_by(self, sent: int, received: int, server: int) -> int:
        """Return by how much the server's clock was set, if it told this time between these local times."""
        gap = max(server - received - self.high, self.low - (server - sent)) - _TOLERANCE
        return gap if self.is_fixed else 0

    def misdated(self, sent: int, received: int, server: int) -> int:
        """Return by how much the date of an action is wrong that was sent and answered at these local times."""
        return self.dated(sent + self.low, received, server)

    def dated(self, earliest: int, received: int, server: int) -> int:
        """Return by how much a date is wrong that was told at this local time, and should not be before ``earliest``."""
        return max(earliest - server - _TOLERANCE, self.ahead(received, server))

    def ahead(self, received: int, server: int) -> int:
        """Return by how much a date is later than the local time at which it was told."""
        return server - received - self.high - _TOLERANCE

    def late(self, sent: int, received: int) -> int:
        """Return by how much an answer came later than the network explains."""
        return received - sent - self.fastest - _SLOW

    def dealt(self, received: int, start: int) -> int:
        """Return by how much the first board came too late after the start, or after the player had come into the room."""
        return received - max(self.entered_at, start - self.low) - _SLOW

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

    ``low`` and ``high`` bound the difference between the server's clock and the local one. They are fixed once the
    countdown begins. ``fastest`` is the shortest round trip. ``misdated`` and ``late`` have the number and the sum of
    the times by which answers were wrongly dated or came later than the network explains. ``dealt_late`` is by how much
    the first board came after the start.
    """

    low: int = -(1 << 60)
    high: int = 1 << 60
    fastest: int = 1 << 60
    is_fixed: bool = False
    misdated: tuple[int, int] = (0, 0)
    late: tuple[int, int] = (0, 0)
    dealt_late: int = 0

    @property
    def is_known(self) -> bool:
        """Whether there was an exchange with the server."""
        return self.fastest < 1 << 60

    def exchanged(self, sent: int, received: int, server: int) -> RaceClock:
        """Return the clock after a ping that was sent and answered at these local times."""
        fastest = min(self.fastest, received - sent)
        if self.is_fixed:
            return replace(self, fastest=fastest)
        low, high = max(self.low, server - received), min(self.high, server - sent)
        if low > high:  # the server's clock was set
            low, high = server - received, server - sent
        return replace(self, low=low, high=high, fastest=fastest)

    def answered(self, sent: int, received: int, server: int) -> RaceClock:
        """Return the clock after an action that was sent and answered at these local times, and dated ``server``."""
        if not self.is_known:
            return self
        early, over = sent + self.low - server, server - received - self.high
        wrong, late = max(early, over) - _TOLERANCE, received - sent - self.fastest - _SLOW
        return replace(self, misdated=_counted(self.misdated, wrong), late=_counted(self.late, late))

    def told(self, received: int, server: int) -> RaceClock:
        """Return the clock after a message at this local time about an action of somebody that is dated ``server``."""
        ahead = server - received - self.high - _TOLERANCE
        return replace(self, misdated=_counted(self.misdated, ahead)) if self.is_known else self

    def dealt(self, received: int, start: int) -> RaceClock:
        """Return the clock after the first board, which arrived at this local time in a race that began at ``start``."""
        late = max(0, received + self.low - start - _SLOW)
        return replace(self, dealt_late=late) if self.is_known and start else self


def _counted(before: tuple[int, int], amount: int) -> tuple[int, int]:
    return (before[0] + 1, before[1] + amount) if amount > 0 else before

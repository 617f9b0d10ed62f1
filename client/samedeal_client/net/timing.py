"""The server's clock, as a client can know it; and how long to wait before coming back."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

_KEPT: Final = 8
_FIRST_DELAY: Final = 0.2
_RACING_DELAY: Final = 2.0
_LONGEST_DELAY: Final = 10.0


class _Sample(NamedTuple):
    round_trip: float
    offset: float


class Offset:
    """How far the server's clock (milliseconds since 1970) is ahead of a local one (seconds from anywhere).

    Of the newest exchanges the one with the shortest round trip counts: its error is half of that at the most.
    """

    def __init__(self) -> None:
        self._samples: list[_Sample] = []

    def heard(self, sent: float, received: float, server: int) -> None:
        """Take an exchange: asked and answered at two local times, with the server's time in between."""
        middle = 1000 * (sent + received) / 2
        self._samples = [*self._samples, _Sample(received - sent, server - middle)][-_KEPT:]

    def now(self, local: float) -> int:
        """The server's time at a local one; 0 before the first exchange."""
        return round(1000 * local + min(self._samples).offset) if self._samples else 0

    def forget(self) -> None:
        """Start anew, as after a cut: the machine may have slept."""
        self._samples = self._samples[-1:]


class Patience:
    """How long to wait before each attempt: at random up to a bound that doubles from 0.2 s (full jitter).

    It is never more than a quarter of all that was waited before, or 2 s, so that no failure costs a racer much more than
    it lasted; nor more than 10 s.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._bound = _FIRST_DELAY
        self._waited = 0.0

    def wait(self) -> float:
        """Seconds before the next attempt."""
        seconds = self._rng.uniform(0, self._bound)
        self._waited += seconds
        self._bound = min(2 * self._bound, max(_RACING_DELAY, self._waited / 4), _LONGEST_DELAY)
        return seconds

    def wait_as_told(self, seconds: float) -> float:
        """Seconds before the next attempt where the server is there and has said when: a little later, not all at once."""
        return self._rng.uniform(seconds, 1.5 * seconds)

    def rewarded(self) -> None:
        """An attempt went well."""
        self._bound = _FIRST_DELAY
        self._waited = 0.0

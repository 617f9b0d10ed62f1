"""Delays between attempts to reconnect."""

from __future__ import annotations

from random import Random
from typing import Final

_FIRST_BOUND: Final = 0.2
_RACING_BOUND: Final = 2.0
_MAX_BOUND: Final = 10.0


class Backoff:
    """Exponential backoff with full jitter: each delay is random, between 0 and a bound.

    The bound starts at 0.2 s and doubles with each delay, up to 2 s. During a long outage the bound grows further, to a
    quarter of the time already waited, up to 10 s. With these bounds a racer reconnects soon after the outage has
    ended.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._bound = _FIRST_BOUND
        self._waited = 0.0

    def next_delay(self) -> float:
        """Return the delay before the next attempt, in seconds."""
        seconds = self._rng.uniform(0, self._bound)
        self._waited += seconds
        self._bound = min(2 * self._bound, max(_RACING_BOUND, self._waited / 4), _MAX_BOUND)
        return seconds

    def requested_delay(self, seconds: float) -> float:
        """Return the delay before the next attempt, in seconds, if the server asked for a delay of ``seconds``.

        The result is random, from 1 to 1.5 times ``seconds``, so that the server's clients don't all reconnect at once.
        """
        return self._rng.uniform(seconds, 1.5 * seconds)

    def reset(self) -> None:
        """Make the next delay short again. Call this after a connection that has lasted for a while."""
        self._bound = _FIRST_BOUND
        self._waited = 0.0

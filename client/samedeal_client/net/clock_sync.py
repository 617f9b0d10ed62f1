"""An estimate of the server's clock. Pure: local times are arguments."""

from __future__ import annotations

from typing import Final, NamedTuple

_MAX_SAMPLES: Final = 8


class _Sample(NamedTuple):
    round_trip: float
    offset: float


class ClockOffset:
    """Difference between the server's clock (milliseconds since 1970) and a local clock (seconds since any moment).

    Of the newest exchanges with the server, the one with the shortest round trip determines the difference. The error is
    at most half of that round trip.
    """

    def __init__(self) -> None:
        self._samples: list[_Sample] = []

    def record(self, sent: float, received: float, server: int) -> None:
        """Add an exchange: the local times of request and answer, and the server's time in the answer."""
        middle = 1000 * (sent + received) / 2
        self._samples = [*self._samples, _Sample(received - sent, server - middle)][-_MAX_SAMPLES:]

    def now(self, local: float) -> int:
        """Return the server's time at the ``local`` time. Before the first exchange it is 0."""
        return round(1000 * local + min(self._samples).offset) if self._samples else 0

    def reset(self) -> None:
        """Drop all samples except the newest, because the machine may have slept since the others were taken."""
        self._samples = self._samples[-1:]

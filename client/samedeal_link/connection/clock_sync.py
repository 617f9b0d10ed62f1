"""An estimate of the server's clock. Pure: local times are arguments."""

from __future__ import annotations

from typing import Final

_MAX_SAMPLES: Final = 8


class ClockOffset:
    """Difference between the server's clock (milliseconds since 1970) and a local clock (seconds since any moment).

    The difference is taken from one of the newest exchanges with the server, the exchange with the shortest round trip.
    The error is at most half of this round trip.
    """

    def __init__(self) -> None:
        self._samples: list[tuple[float, float]] = []
        """The round trip and the difference of each exchange."""

    def record(self, sent: float, received: float, server: int) -> None:
        """Add an exchange with the server.

        ``sent`` and ``received`` are the local times of request and answer. ``server`` is the server's time in the
        answer.
        """
        middle = 1000 * (sent + received) / 2
        self._samples = [*self._samples, (received - sent, server - middle)][-_MAX_SAMPLES:]

    def now(self, local: float) -> int:
        """Return the server's time when the local clock shows ``local``. Before the first exchange, return 0."""
        return round(1000 * local + min(self._samples)[1]) if self._samples else 0

    def reset(self) -> None:
        """Drop all exchanges except the newest, because the machine may have slept since the older ones."""
        self._samples = self._samples[-1:]

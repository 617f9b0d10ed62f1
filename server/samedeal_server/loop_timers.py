"""The clock and the timers of the event loop. Tests pass timers of their own, which they advance by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol


class Timer(Protocol):
    """A function call that is scheduled for later."""

    def cancel(self) -> None:
        """Cancel the call."""


class Timers:
    """The clock and the timers of the running event loop."""

    def monotonic(self) -> float:
        """Return the time in seconds, on a clock that never goes back."""
        return time.monotonic()

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: object) -> Timer:
        """Call a function after ``delay`` seconds."""
        return asyncio.get_running_loop().call_later(delay, callback, *arguments)

    async def sleep(self, delay: float) -> None:
        """Wait for ``delay`` seconds."""
        await asyncio.sleep(delay)


LOOP_TIMERS: Final = Timers()
"""The timers of the event loop that is currently running."""


class Alarm:
    """A timer that calls one callback. It can be set again any number of times until it is closed."""

    __slots__ = ("_callback", "_timer", "_timers")

    def __init__(self, timers: Timers, callback: Callable[[], object]) -> None:
        self._timers = timers
        self._callback: Callable[[], object] | None = callback
        self._timer: Timer | None = None

    @property
    def is_set(self) -> bool:
        """Whether the callback is scheduled."""
        return self._timer is not None

    def set(self, delay: float) -> None:
        """Call the callback after ``delay`` seconds.

        Cancel a call that was scheduled before. If the alarm is closed, do nothing.
        """
        self.cancel()
        if self._callback is not None:
            self._timer = self._timers.call_later(delay, self._fire)

    def cancel(self) -> None:
        """Cancel the scheduled call, if there is one. The alarm can be set again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Cancel the scheduled call, ignore all later calls of ``set``, and drop the callback."""
        self._callback = None  # it is often a method of the alarm's owner, which would stay alive
        self.cancel()

    def _fire(self) -> None:
        self._timer = None
        if self._callback is not None:
            self._callback()

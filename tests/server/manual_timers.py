"""Timers whose time a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from samedeal_server.loop_timers import Timer, Timers


class ManualTimers(Timers):
    """Timers that fire when a test advances them."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._waiting: list[ManualTimer] = []

    def monotonic(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: object) -> Timer:
        self._waiting.append(ManualTimer(self.now + delay, lambda: callback(*arguments)))
        return self._waiting[-1]

    async def sleep(self, delay: float) -> None:
        slept = asyncio.Event()
        self.call_later(delay, slept.set)
        await slept.wait()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for timer in [timer for timer in self._waiting if timer.due <= self.now]:
            self._waiting.remove(timer)
            timer.fire()


class ManualTimer:
    """A call that has been scheduled, and may have been cancelled."""

    def __init__(self, due: float, fire: Callable[[], object]) -> None:
        self.due = due
        self.fire = fire

    def cancel(self) -> None:
        self.fire = lambda: None

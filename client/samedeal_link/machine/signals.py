"""Running a command until it ends or a signal stops it."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from samedeal_link.machine.terminal import terminal

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

HANGUP_TIMEOUT: Final = 0.6
"""Timeout, in seconds, for this process to end by itself after its terminal is gone."""

STOP_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for this process to end by itself after SIGINT or SIGTERM."""


@contextmanager
def on_signals(stop: Callable[[int], None], *, must_end: bool = False) -> Iterator[None]:
    """On Ctrl-C, SIGTERM or SIGHUP, call ``stop`` with the exit code: 128 plus the number of the signal.

    If ``must_end`` is true, a signal also ends the process after a timeout. This helps if the event loop waits forever
    for a terminal that takes no output. Contexts may be nested. Then only the innermost context receives the signals.
    A client that does not own its process gets no signals. Its terminal calls ``stop`` instead.
    """
    if not terminal().owns_process:
        with terminal().on_stop(stop):
            yield
        return
    loop = asyncio.get_running_loop()

    def handle(number: int, _: FrameType | None) -> None:
        if must_end:
            end_after(HANGUP_TIMEOUT if number == signal.SIGHUP else STOP_TIMEOUT, 128 + number)
        loop.call_soon_threadsafe(stop, 128 + number)

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)


def end_after(timeout: float, code: int) -> None:
    """End this process with the exit code ``code`` if it is still running after ``timeout`` seconds."""
    timer = threading.Timer(timeout, os._exit, (code,))
    timer.daemon = True
    timer.start()


async def until_stopped(work: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine and return its exit code.

    A signal cancels the coroutine, which may then clean up. The exit code is then 128 plus the number of the signal.
    """
    working = asyncio.ensure_future(work)
    code: int | None = None

    def stop(number: int) -> None:
        nonlocal code
        if code is None:
            code = number
            working.cancel()

    with on_signals(stop):
        try:
            return await working
        except asyncio.CancelledError:
            if code is None:
                raise
            return code

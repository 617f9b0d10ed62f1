"""Running a command until it ends or a signal stops it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from samedeal_client.first_completed import first_of

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_HANDLERS: Final[list[Callable[[int], None]]] = []
"""Active handlers. The last one receives the signals."""


class StopRequest:
    """A request to stop with an exit code. Only the first request counts."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._code = 0

    def stop(self, code: int = 0) -> None:
        """Request to stop."""
        if not self._requested.is_set():
            self._code = code
            self._requested.set()

    async def wait(self) -> int:
        """Wait until a stop is requested, and return its exit code."""
        await self._requested.wait()
        return self._code


def is_terminal() -> bool:
    """Return whether standard input and standard output are both a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def on_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Call ``stop`` with the exit code on Ctrl-C, SIGTERM or SIGHUP.

    Contexts may be nested: the innermost one receives the signals.
    """
    loop = asyncio.get_running_loop()
    _HANDLERS.append(stop)
    for number in _SIGNALS:
        loop.add_signal_handler(number, _handle, 128 + number)
    try:
        yield
    finally:
        _HANDLERS.remove(stop)
        if not _HANDLERS:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


def _handle(code: int) -> None:
    _HANDLERS[-1](code)


async def until_stopped(work: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine and return its exit code. A signal cancels the coroutine, which may then clean up."""
    request = StopRequest()
    with on_signals(request.stop):
        async with first_of(work, request.wait()) as (working, stopping):
            return (working if working.done() else stopping).result()

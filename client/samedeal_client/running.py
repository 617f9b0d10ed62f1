"""Running a command: on what, until when, and how it fails."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_STOPS: Final[list[Callable[[int], None]]] = []
"""Who is told of signals, the last one first in line."""


class Failure(Exception):
    """A command that could not be done: the sentence for the player, and the exit code."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


def is_terminal() -> bool:
    """Whether somebody sits there: standard input and output are both a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def on_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Have Ctrl-C, SIGTERM and SIGHUP call ``stop`` with the exit code that goes with each.

    Within another one it stands in its place.
    """
    loop = asyncio.get_running_loop()
    _STOPS.append(stop)
    for number in _SIGNALS:
        loop.add_signal_handler(number, _stop, 128 + number)
    try:
        yield
    finally:
        _STOPS.remove(stop)
        if not _STOPS:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


def _stop(code: int) -> None:
    _STOPS[-1](code)


async def until_stopped(work: Coroutine[Any, Any, int]) -> int:
    """Do some work to its end; a signal cancels it, and it may clean up: the exit code."""
    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with on_signals(lambda code: None if stopped.done() else stopped.set_result(code)):
        working = asyncio.create_task(work)
        await asyncio.wait((working, stopped), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        return stopped.result()

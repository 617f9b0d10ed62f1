"""What a node is told from outside while it runs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable


class Signals:
    """SIGTERM and SIGINT stop a node, and hurry one that stops; SIGHUP has it read its settings again.

    SIGHUP is also what is sent when a terminal is closed: a node that ran on one, and has lost it, stops.
    """

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.hurrying = asyncio.Event()
        self.reload: Callable[[], None] = _nothing_yet
        self._terminals = [number for number in range(3) if os.isatty(number)]
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up)

    def _stop(self) -> None:
        (self.hurrying if self.stopping.is_set() else self.stopping).set()

    def _hang_up(self) -> None:
        if all(map(os.isatty, self._terminals)):
            self.reload()
        else:
            self._stop()


def _nothing_yet() -> None:
    """While a node starts its settings are new."""

"""The Unix signals that a node handles."""

from __future__ import annotations

import asyncio
import os
import signal


class Signals:
    """Sets an event for each kind of signal. It must be created in a running loop.

    The first SIGTERM or SIGINT sets ``stop``, the second sets ``hurry``. SIGHUP sets ``reload``. If the terminal closes
    on which the node was started, the kernel sends SIGHUP too. That SIGHUP counts as SIGTERM.
    """

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.hurry = asyncio.Event()
        self.reload = asyncio.Event()
        self._terminals = [number for number in range(3) if os.isatty(number)]
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._handle_stop)
        loop.add_signal_handler(signal.SIGHUP, self._handle_hangup)

    def _handle_stop(self) -> None:
        (self.hurry if self.stop.is_set() else self.stop).set()

    def _handle_hangup(self) -> None:
        if all(map(os.isatty, self._terminals)):
            self.reload.set()
        else:
            self._handle_stop()

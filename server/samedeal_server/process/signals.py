"""The Unix signals that a node handles."""

from __future__ import annotations

import asyncio
import os
import signal


class Signals:
    """Events that Unix signals set. The object must be created in a running event loop.

    The first SIGTERM or SIGINT sets ``stop``, and the second sets ``hurry``. SIGHUP sets ``reload``. The kernel also
    sends SIGHUP when the terminal of the node is closed. Such a SIGHUP counts as SIGTERM.
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

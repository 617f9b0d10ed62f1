"""Detection of a lost terminal: its window was closed, or the connection to the terminal was lost."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from samedeal_link.machine.signals import HANGUP_TIMEOUT, end_after

EXIT_CODE: Final = 129
"""The exit code of a process that SIGHUP ends."""

_POLL_TIME: Final = 500
"""Interval, in milliseconds, at which the thread checks whether the context has ended."""


@contextmanager
def on_terminal_lost(terminal: int, lost: Callable[[], object]) -> Iterator[None]:
    """Call ``lost`` in a thread if the terminal goes away inside the context, even if this process gets no SIGHUP.

    If the process still runs ``HANGUP_TIMEOUT`` seconds later, end the process, since it may wait for the terminal
    forever.
    """
    ended = threading.Event()

    def watch() -> None:
        poll = select.poll()
        poll.register(terminal, 0)  # poll always reports that a terminal is gone
        while not ended.is_set():
            events = poll.poll(_POLL_TIME)
            if events and events[0][1] & (select.POLLHUP | select.POLLERR):
                end_after(HANGUP_TIMEOUT, EXIT_CODE)
                with suppress(RuntimeError):  # the event loop has just been closed
                    lost()
            if events:
                return  # the terminal is gone, or its kind can't be polled

    threading.Thread(target=watch, daemon=True, name="terminal-watch").start()
    try:
        yield
    finally:
        ended.set()

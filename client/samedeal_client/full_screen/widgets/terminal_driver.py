"""Output to a terminal that may be gone: its window was closed, or the connection to it was lost."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver

from samedeal_client.terminal_io.kept_screen import LEAVE_SCREEN, SHOW_CURSOR, KeptScreen

if TYPE_CHECKING:
    from io import TextIOWrapper

    from textual.app import App

    from samedeal_client.full_screen.widgets.look_app import LookApp


SLOW_WRITE: Final = 0.03
"""Time, in seconds, after which a write counts as slow."""

SLOW_FOR: Final = 5.0
"""Time, in seconds, for which a terminal counts as slow after a slow write."""


class LossyStream:
    """A stream that drops the text that it can't write. It also measures whether the terminal keeps up with the output."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._began: float | None = None
        self._slow_until = -1.0

    @property
    def is_slow(self) -> bool:
        """Whether a write is taking longer than ``SLOW_WRITE``, or took longer within the last ``SLOW_FOR`` seconds."""
        now, began = self._clock(), self._began
        return now < self._slow_until or (began is not None and now - began > SLOW_WRITE)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        self._began = self._clock()
        try:
            yield
        finally:
            now = self._clock()
            if now - self._began > SLOW_WRITE:
                self._slow_until = now + SLOW_FOR
            self._began = None

    def write(self, text: str) -> None:
        """Write ``text`` if the terminal still takes it."""
        with suppress(OSError), self._timed():
            self._stream.write(text)

    def flush(self) -> None:
        """Write the buffered text if the terminal still takes it."""
        with suppress(OSError), self._timed():
            self._stream.flush()

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._stream.fileno()


class TerminalDriver(LinuxDriver):
    """Textual's driver, made safe against a terminal that is gone and against two threads that read keys.

    In Textual a failed write ends the thread that writes. The thread's queue fills up, and then the event loop waits
    for the queue forever, so that no signal is handled any more. This driver drops the text that can't be written.

    At each SIGCONT Textual prepares the terminal again and starts another thread that reads keys, even if the terminal
    was never given back. One of the threads then outlives the app and posts keys to a closed event loop, and the
    terminal is not restored. With this driver only ``App.suspend`` gives the terminal back and takes it again, also
    after a stop of which the process was not told, when a shell has used the terminal.

    Textual draws on the standard error stream, which need not be a terminal.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._look_app = cast("LookApp[Any]", app)
        self._cells = self._look_app.terminal
        stream = cast("TextIOWrapper", sys.__stdout__)
        stream.reconfigure(errors="backslashreplace")
        self._output = LossyStream(stream)
        self._file = cast("TextIOWrapper", self._output)
        signal.signal(signal.SIGCONT, signal.SIG_DFL)

    def start_application_mode(self) -> None:
        """Take the terminal, and SIGTSTP and SIGCONT with it."""
        self._loop.add_signal_handler(signal.SIGTSTP, self._app.action_suspend_process)
        self._loop.add_signal_handler(signal.SIGCONT, self._take_again)
        self._cells.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's method has no types

    def stop_application_mode(self) -> None:
        """Give the terminal back, and SIGCONT with it."""
        self._loop.remove_signal_handler(signal.SIGCONT)
        super().stop_application_mode()

    def _take_again(self) -> None:
        with self._app.suspend():
            pass

    def write(self, data: str) -> None:
        """Write only the cells that change. If the app keeps its screen, do not leave the alternate screen."""
        if data == LEAVE_SCREEN:
            KeptScreen.is_shown = self._look_app.keeps_screen
        if self._look_app.keeps_screen and data in (LEAVE_SCREEN, SHOW_CURSOR):
            return
        super().write(self._cells.reduced(data))

    def close(self) -> None:
        """Stop writing. Leave SIGTSTP to the next app."""
        self._loop.remove_signal_handler(signal.SIGTSTP)
        super().close()

    @property
    def is_slow(self) -> bool:
        """Whether the terminal does not keep up with the output."""
        return self._output.is_slow

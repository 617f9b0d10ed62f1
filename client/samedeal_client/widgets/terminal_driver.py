"""Output to a terminal that may be gone: its window was closed, or the connection to it was lost."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from io import TextIOWrapper

    from textual.app import App


class LossyStream:
    """A stream that drops what it can't write."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write ``text`` if the terminal still takes it."""
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        """Write the buffered text if the terminal still takes it."""
        with suppress(OSError):
            self._stream.flush()

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._stream.fileno()


class TerminalDriver(LinuxDriver):
    """Textual's driver, whose output goes on when the terminal is gone, and which reads the terminal only once.

    In Textual a failed write ends the thread that writes. Its queue fills up, and then the event loop waits for it forever,
    so that no signal is handled any more.

    At each SIGCONT Textual prepares the terminal again and starts another thread that reads keys, even if the terminal was
    never given back. One of the threads then outlives the app and posts keys to a closed event loop, and the terminal stays
    as it is. Here only ``App.suspend`` gives the terminal back and takes it again.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._file = cast("TextIOWrapper", LossyStream(cast("TextIO", self._file)))
        signal.signal(signal.SIGCONT, signal.SIG_DFL)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, app.action_suspend_process)

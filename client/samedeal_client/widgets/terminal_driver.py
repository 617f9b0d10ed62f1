"""Output to a terminal that may be gone: its window was closed, or the connection to it was lost."""

from __future__ import annotations

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
    """Textual's driver, whose output goes on when the terminal is gone.

    In Textual a failed write ends the thread that writes. Its queue fills up, and then the event loop waits for it forever,
    so that no signal is handled any more.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._file = cast("TextIOWrapper", LossyStream(cast("TextIO", self._file)))

"""Line input from a terminal, a pipe or a file, and line output to a stream."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Final, TextIO

from samedeal.terminal_text import printable
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, row_text, wrap_row
from samedeal_link.machine.terminal import terminal

_MAX_PENDING_LINES: Final = 1000
_MAX_LINE_BYTES: Final = 1000
_MAX_PRINTED_CHARACTERS: Final = 2000

_SGR: Final = {"red": "31", "diamond": "33", "club": "32", "hidden": "2", "seen": "2", "label": "2", "you": "1"}


class LineReader:
    """A reader of lines from a terminal, a pipe or a file.

    A daemon thread reads, because an event loop cannot wait for a file. The thread ends with the program.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(_MAX_PENDING_LINES)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, daemon=True, name="lines").start()

    async def read_line(self) -> str | None:
        """Wait for the next line and return it without its line end. Return None at the end of the input."""
        return await self._queue.get()

    def _run(self) -> None:
        rest = b""
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except OSError:
                data = b""
            *lines, rest = (rest + data).split(b"\n")
            if not data and rest:
                lines.append(rest)
            if len(rest) > _MAX_LINE_BYTES:
                rest = rest[:_MAX_LINE_BYTES]
            for line in lines:
                if not self._put(line[:_MAX_LINE_BYTES].decode("utf-8", "replace").rstrip("\r")):
                    return
            if not data:
                self._put(None)
                return

    def _put(self, line: str | None) -> bool:
        """Pass a line to the event loop, waiting while its queue is full. Return False if the loop has ended."""
        coroutine = self._queue.put(line)
        try:
            asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        except (RuntimeError, asyncio.CancelledError):
            coroutine.close()
            return False
        return True


async def ask(question: str) -> str:
    """Ask a question before or between apps, and return the typed line. Ctrl-D is an empty answer."""
    stream = terminal().output if terminal().output.isatty() else terminal().errors
    print(question, end="", file=stream, flush=True)
    loop, typed, keyboard = asyncio.get_running_loop(), asyncio.Event(), sys.stdin.fileno()
    loop.add_reader(keyboard, typed.set)  # a thread that reads would hold up Ctrl-C
    try:
        await typed.wait()
        return os.read(keyboard, 4096).decode("utf-8", "replace").removesuffix("\n")
    except asyncio.CancelledError:
        print(file=stream)
        raise
    finally:
        loop.remove_reader(keyboard)


async def ask_secret(question: str) -> str:
    """Ask a question like ``ask``, without showing the answer."""
    if (ask_at_door := terminal().ask_secret) is not None:
        return await ask_at_door(question)
    with terminal().without_echo():
        return await ask(question)


class Printer:
    """A printer of lines and rows. The only control characters that it prints are the codes for colours.

    ``width`` returns the width of the terminal. Longer lines and rows are wrapped. If the width is 0, nothing is wrapped.
    """

    def __init__(self, stream: TextIO, *, colour: bool, width: Callable[[], int] = lambda: 0) -> None:
        self._stream = stream
        self._colour = colour
        self._width = width

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print lines. Unprintable characters, which a server could send, become question marks."""
        self.print_rows((Span(printable(line, _MAX_PRINTED_CHARACTERS)),) for line in lines)

    def print_rows(self, rows: Iterable[Row]) -> None:
        """Print rows. They are coloured by their styles if ``colour`` was set."""
        width = self._width()
        for each in rows:
            for row in wrap_row(each, width) if width else [each]:
                self._stream.write((with_colour_codes(row) if self._colour else row_text(row)).rstrip() + "\n")
        self._stream.flush()


def with_colour_codes(row: Row) -> str:
    """Return the text of a row with the escape sequences for its colours."""
    words = []
    for span in row:
        codes = ";".join(_SGR[style] for style in span.style.split() if style in _SGR)
        words.append(f"\x1b[{codes}m{span.text}\x1b[0m" if codes and span.text.strip() else span.text)
    return "".join(words)


def terminal_look(*, ascii_only: bool, stream: TextIO | None = None) -> Look:
    """Return the look that suits an output stream: ASCII if its encoding lacks the glyphs, colours only on a terminal."""
    out, environment = stream or terminal().output, terminal().environment
    try:
        "♥▒⋮".encode(out.encoding or "ascii")
        glyphs = True
    except (UnicodeEncodeError, LookupError):
        glyphs = False
    colour = out.isatty() and not environment.get("NO_COLOR") and environment.get("TERM", "") not in ("", "dumb")
    return Look(ascii=ascii_only or not glyphs, colour=colour)

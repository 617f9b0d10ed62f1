"""Lines in and out: what is typed, or comes through a pipe, and what is printed."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from samedeal.names import printable
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, row_text

_PENDING: Final = 1000
_LONGEST: Final = 1000
_WIDEST: Final = 2000

_SGR: Final = {"red": "31", "diamond": "33", "club": "32", "hidden": "2", "seen": "2", "label": "2", "you": "1"}


class LineReader:
    """The lines of standard input, whatever that is: a terminal, a pipe or a file.

    A thread reads, since a file can't be waited for; it is left to its read when the program ends.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(_PENDING)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, daemon=True, name="lines").start()

    async def line(self) -> str | None:
        """The next line without its end, None when there are no more."""
        return await self._queue.get()

    def _run(self) -> None:
        waiting = b""
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except OSError:
                data = b""
            *lines, waiting = (waiting + data).split(b"\n")
            if not data and waiting:
                lines.append(waiting)
            if len(waiting) > _LONGEST:
                waiting = waiting[:_LONGEST]
            for line in lines:
                if not self._put(line[:_LONGEST].decode("utf-8", "replace").rstrip("\r")):
                    return
            if not data:
                self._put(None)
                return

    def _put(self, line: str | None) -> bool:
        """Hand a line over and wait while too many wait already; False when nobody is there any more."""
        coroutine = self._queue.put(line)
        try:
            asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        except (RuntimeError, asyncio.CancelledError):
            coroutine.close()
            return False
        return True


@contextmanager
def silent(terminal: int) -> Iterator[None]:
    """Have a terminal not show what is typed."""
    before = termios.tcgetattr(terminal)
    quiet = [*before]
    quiet[3] = before[3] & ~termios.ECHO | termios.ECHONL
    termios.tcsetattr(terminal, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


class Printer:
    """Prints lines as they come, without anything that a terminal or a screen reader could stumble over."""

    def __init__(self, stream: TextIO, *, colour: bool) -> None:
        self._stream = stream
        self._colour = colour

    def say(self, lines: Iterable[str]) -> None:
        """Print lines; what can't be printed in them (a server may send anything) becomes a question mark."""
        for line in lines:
            self._stream.write(printable(line, _WIDEST) + "\n")
        self._stream.flush()

    def show(self, rows: Iterable[Row]) -> None:
        """Print rows in the colours of their styles, where there are colours."""
        for row in rows:
            self._stream.write((painted(row) if self._colour else row_text(row)).rstrip() + "\n")
        self._stream.flush()


def painted(row: Row) -> str:
    """A row with the escapes that colour it."""
    words = []
    for span in row:
        codes = ";".join(_SGR[style] for style in span.style.split() if style in _SGR)
        words.append(f"\x1b[{codes}m{span.text}\x1b[0m" if codes and span.text.strip() else span.text)
    return "".join(words)


def terminal_look(*, ascii_only: bool, stream: TextIO | None = None) -> Look:
    """The look that suits where the lines go: suits as letters where it can't write glyphs, colours on terminals only."""
    out = stream or sys.stdout
    try:
        "♥▒⋮".encode(out.encoding or "ascii")
        glyphs = True
    except (UnicodeEncodeError, LookupError):
        glyphs = False
    colour = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")
    return Look(ascii=ascii_only or not glyphs, colour=colour)

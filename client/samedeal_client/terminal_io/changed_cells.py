"""Terminal output reduced to the cells that change. Pure.

Textual draws each changed row of a widget again, with a full style and a reset for every piece of text. It has no option
to write less. This module leaves out the cells that already show the right character and style. To move nine cards in a
window of 200 by 60, with their flight, then takes 6 kB instead of 22 kB. That matters on a slow connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from samedeal.terminal_text import columns_of

_TOKEN: Final = re.compile(r"\x1b\[(?:(\d+);(\d+)H|([\d;]*)m)|([^\x00-\x1f\x7f]+)|\n(?=\x1b\[\d+;\d+H)")
_HARMLESS: Final = re.compile(r"(?:\x1b\[\?2026[hl]|\x1b\[0?m|\x07)*")
"""Output that changes no cell: the start and end of an update, a reset of the style, and the bell."""

_GAP: Final = 4
"""Maximum number of unchanged cells that are written again. Moving the cursor over these cells would take as many bytes."""


class _Part(NamedTuple):
    """A text at a row and column, in the style that an SGR sequence with these parameters sets.

    In sorted order, parts with wide characters come first.
    """

    kind: Literal["1 wide", "2 narrow"]
    style: str
    y: int
    x: int
    text: str


_NOWHERE: Final = (-1, -1)


class TerminalCells:
    """The cells of a terminal after the output so far. ``written`` is the number of bytes in the reduced output."""

    def __init__(self) -> None:
        self.written = 0
        self._rows: dict[int, list[tuple[str, str] | None]] = {}
        self._cursor = _NOWHERE

    def forget(self) -> None:
        """Forget all cells, so that the next output is written in full."""
        self._rows.clear()
        self._cursor = _NOWHERE

    def reduced(self, output: str) -> str:
        """Return shorter output with the same effect. If the output can't be understood, return it unchanged."""
        output = self._reduced(output)
        self.written += len(output.encode())
        return output

    def _reduced(self, output: str) -> str:
        if not output or _HARMLESS.fullmatch(output):
            return output
        written, parts = "", list[_Part]()
        style, (y, x) = "", self._cursor
        at, end = 0, len(output)
        while at < end:
            token = _TOKEN.match(output, at)
            if token is None or (token[4] and y < 0):
                self.forget()
                return output
            at = token.end()
            row, column, parameters, text = token.groups()
            if row is not None:
                place = int(row), int(column)
                if place < (y, x):  # draw the parts first, because the next text may lie over them
                    written += self._drawn(parts, place)
                    parts = []
                y, x = place
            elif parameters is not None:
                style = parameters.removeprefix("0")
            elif text is not None:
                parts += self._changed(y, x, text, style)
                x += columns_of(text)
        return written + self._drawn(parts, (y, x))

    def _drawn(self, parts: list[_Part], end: tuple[int, int]) -> str:
        """Return the output that draws parts in an order with few changes of style, and moves the cursor to ``end``."""
        drawn_in, at = "", self._cursor
        written: list[str] = []
        for kind, style, y, x, text in sorted(parts):
            written.append(_movement(at, (y, x)))
            if style != drawn_in:
                written.append(f"\x1b[0;{style}m" if style else "\x1b[m")
                drawn_in = style
            written.append(text)
            at = (y, x + len(text)) if kind == "2 narrow" else _NOWHERE
        self._cursor = end
        return "".join((*written, "\x1b[m" * bool(drawn_in), _movement(at, end)))

    def _changed(self, y: int, x: int, text: str, style: str) -> Iterator[_Part]:
        """Record a text at row ``y`` and column ``x``, and yield the parts of the text that change cells."""
        cells = self._rows.setdefault(y, [])
        end = x + columns_of(text)
        if end > len(cells):
            cells += [None] * (end - len(cells))
        if not _is_narrow(text):  # terminals disagree about wide characters, so what is on their right is never known
            cells[x:] = [None] * (len(cells) - x)
            yield _Part("1 wide", style, y, x, text)
            return
        new: list[tuple[str, str] | None] = [(char, style) for char in text]
        old = cells[x:end]
        if old == new:
            return
        cells[x:end] = new
        start = stop = -1
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                if start >= 0 and index - stop > _GAP:
                    yield _Part("2 narrow", style, y, x + start, text[start:stop])
                    start = -1
                start, stop = index if start < 0 else start, index + 1
        yield _Part("2 narrow", style, y, x + start, text[start:stop])


@lru_cache(maxsize=4096)
def _is_narrow(text: str) -> bool:
    """Return whether every character of a text is one column wide."""
    return text.isascii() or all(columns_of(char) == 1 for char in text)


def _movement(before: tuple[int, int], after: tuple[int, int]) -> str:
    if before == after:
        return ""
    if before[0] == after[0] and after[1] - before[1] > 0:
        steps = after[1] - before[1]
        return f"\x1b[{steps}C" if steps > 1 else "\x1b[C"
    return f"\x1b[{after[0]};{after[1]}H"

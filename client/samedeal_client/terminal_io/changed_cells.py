"""Terminal output reduced to the cells that change. Pure.

Textual draws each changed row of a widget again, with a full style and a reset for every piece of text. It has no option
to write less. This module leaves out the cells that already show the right character and style. To move nine cards in a
window of 200 by 60, with their flight, then takes 5 kB instead of 22 kB. That matters on a slow connection.
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


class Pen(NamedTuple):
    """A style as parameters of an SGR sequence: attributes, text colour and background."""

    background: str = ""
    colour: str = ""
    attributes: str = ""


class _Part(NamedTuple):
    """A text in one style at a row and column. In sorted order, parts with wide characters come first."""

    kind: Literal["1 wide", "2 narrow"]
    style: Pen
    y: int
    x: int
    text: str


_LINES: Final = frozenset(("4", "7", "9", "21", "53"))
"""SGR attributes that are visible on a blank: reverse video, and lines under, through or over the text."""

_PLAIN: Final = Pen()
_NOWHERE: Final = (-1, -1)


class TerminalCells:
    """The cells of a terminal after the output so far. ``written`` is the number of bytes in the reduced output."""

    def __init__(self) -> None:
        self.written = 0
        self._rows: dict[int, list[tuple[str, Pen] | None]] = {}
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
        style, (y, x) = _PLAIN, self._cursor
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
                style = _pen(parameters)
            elif text is not None:
                parts += self._changed(y, x, text, style)
                x += columns_of(text)
        return written + self._drawn(parts, (y, x))

    def _drawn(self, parts: list[_Part], end: tuple[int, int]) -> str:
        """Return the output that draws parts in an order with few changes of style, and moves the cursor to ``end``."""
        pen, at = _PLAIN, self._cursor
        written: list[str] = []
        for kind, style, y, x, text in sorted(parts):
            written.append(_movement(at, (y, x)))
            if not (style == Pen(pen.background) and text.isspace() and not pen.attributes):
                written.append(_style_change(pen, style))
                pen = style
            written.append(text)
            at = (y, x + len(text)) if kind == "2 narrow" else _NOWHERE
        self._cursor = end
        return "".join((*written, _style_change(pen, _PLAIN), _movement(at, end)))

    def _changed(self, y: int, x: int, text: str, style: Pen) -> Iterator[_Part]:
        """Record a text at row ``y`` and column ``x``, and yield the parts of the text that change cells."""
        cells = self._rows.setdefault(y, [])
        end = x + columns_of(text)
        if end > len(cells):
            cells += [None] * (end - len(cells))
        if not _is_narrow(text):  # terminals disagree about wide characters, so what is on their right is never known
            cells[x:] = [None] * (len(cells) - x)
            yield _Part("1 wide", style, y, x, text)
            return
        new: list[tuple[str, Pen] | None] = [(char, style) for char in text]
        old = cells[x:end]
        if old == new:
            return
        cells[x:end] = new
        start = stop = -1
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                if start >= 0 and index - stop > _GAP:
                    yield _part(y, x + start, text[start:stop], style)
                    start = -1
                start, stop = index if start < 0 else start, index + 1
        yield _part(y, x + start, text[start:stop], style)


def _part(y: int, x: int, text: str, style: Pen) -> _Part:
    blank = text.isspace() and not _LINES.intersection(style.attributes.split(";"))
    return _Part("2 narrow", Pen(style.background) if blank else style, y, x, text)


@lru_cache(maxsize=4096)
def _is_narrow(text: str) -> bool:
    """Return whether every character of a text is one column wide."""
    return text.isascii() or all(columns_of(char) == 1 for char in text)


@lru_cache(maxsize=1024)
def _pen(parameters: str) -> Pen:
    """Return the style that the parameters of an SGR sequence set, starting from the default style."""
    attributes, colour, background = [], "", ""
    numbers = parameters.split(";")
    while numbers:
        length = {"5": 3, "2": 5}.get(numbers[1], 1) if numbers[0] in ("38", "48") and len(numbers) > 1 else 1
        code, numbers = ";".join(numbers[:length]), numbers[length:]
        value = int(code.partition(";")[0] or 0)
        if value in range(30, 39) or value in range(90, 98):
            colour = code
        elif value in range(40, 49) or value in range(100, 108):
            background = code
        elif value not in (0, 39, 49):
            attributes.append(code)
    return Pen(background, colour, ";".join(attributes))


@lru_cache(maxsize=4096)
def _style_change(before: Pen, after: Pen) -> str:
    """Return the shortest escape sequence that changes one style to another."""
    if before == after:
        return ""
    if after == _PLAIN:
        return "\x1b[m"
    colours = ((before.colour, after.colour, "39"), (before.background, after.background, "49"))
    changes = [new or default for old, new, default in colours if old != new]
    full = [part for part in after if part]
    if before.attributes != after.attributes:
        changes = ["0", *full] if before.attributes else [after.attributes, *changes]
    return f"\x1b[{';'.join(min(changes, ['0', *full], key=lambda each: len(';'.join(each))))}m"


def _movement(before: tuple[int, int], after: tuple[int, int]) -> str:
    if before == after:
        return ""
    if before[0] == after[0] and after[1] - before[1] > 0:
        steps = after[1] - before[1]
        return f"\x1b[{steps}C" if steps > 1 else "\x1b[C"
    return f"\x1b[{after[0]};{after[1]}H"

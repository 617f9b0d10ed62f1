"""Cards up over time, as a plot in characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit, fit_row
from samedeal_client.views.panel import clock_text

MOST_CURVES: Final = 4

_STEPS: Final = (10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
"""Seconds between the times under a plot."""

_TICK_ROOM: Final = 10


class Curve(NamedTuple):
    """A player's cards up: ``points`` are milliseconds from the start and the cards up from then on, in order of time.

    ``missed`` are stretches of time in which they are not known.
    """

    name: str
    points: tuple[tuple[int, int], ...]
    missed: tuple[tuple[int, int], ...] = ()

    def known(self, length: int) -> int:
        """For how many of the first milliseconds the cards up are known."""
        return length - sum(min(end, length) - min(begin, length) for begin, end in self.missed)

    def levels(self, times: Sequence[float]) -> list[int | None]:
        """The cards up at each of some times, which are in order; None where they are not known."""
        levels: list[int | None] = []
        at = up = 0
        for time in times:
            while at < len(self.points) and self.points[at][0] <= time:
                up = self.points[at][1]
                at += 1
            levels.append(None if any(begin < time < end for begin, end in self.missed) else up)
        return levels


def cards_plot(
    curves: Sequence[Curve], total: int, length: int, width: int, height: int, look: Look
) -> tuple[Row, ...]:
    """Plot up to ``MOST_CURVES`` players over a race of ``length`` milliseconds, in exactly ``width`` by ``height``.

    The first is drawn as a line and over the others, which are drawn as points, each in its own character. Raises
    ValueError under 24 by 5.
    """
    if width < 24 or height < 5:
        raise ValueError(f"a plot takes at least 24 columns and 5 rows, not {width} and {height}")
    shown = curves[:MOST_CURVES]
    margin = len(str(total)) + 3
    columns, rows = width - margin, height - 2
    length = max(length, 1000)
    canvas = _canvas(columns, rows, length, look)
    times = [length * (column + 1) / columns for column in range(columns)]
    for number in range(len(shown) - 1, -1, -1):
        levels = [None if up is None else round(up * (rows - 1) / total) for up in shown[number].levels(times)]
        _draw(canvas, levels, number, look)
    labelled = {round(quarter * (rows - 1) / 4) for quarter in range(5)}
    lines = [_legend(shown, width, look)]
    for row, cells in enumerate(canvas):
        level = rows - 1 - row
        label = str(round(total * level / (rows - 1))) if level in labelled else ""
        edge = look.glyphs.plot[0] if level else look.glyphs.plot[1]
        lines.append((Span(f"{label:>{margin - 1}}{edge}", "axis"), *_merged(cells)))
    lines.append(_times(columns, length, margin, width))
    return tuple(lines)


def _canvas(columns: int, rows: int, length: int, look: Look) -> list[list[Span]]:
    _, _, line, _, tick, *_ = look.glyphs.plot
    canvas = [[Span(" ")] * columns for _ in range(rows - 1)]
    axis = [Span(line, "axis")] * columns
    for at, _ in _ticks(columns, length):
        if at:
            axis[at - 1] = Span(tick, "axis")
    return [*canvas, axis]


def _draw(canvas: list[list[Span]], levels: list[int | None], number: int, look: Look) -> None:
    """Draw a curve by its level in each column; on level 0 the axis stays, but for where the line leaves it.

    Where the level is None nothing is drawn.
    """
    bottom = len(canvas) - 1
    style = f"line{number + 1}"
    stroke = look.glyphs.strokes[number]
    _, _, _, leaves, _, upright, up_to, up_from, down_from, down_to = look.glyphs.plot
    before: int | None = 0
    for column, level in enumerate(levels):
        if level is None:
            pass
        elif number or before is None or level == before:
            if level:
                canvas[bottom - level][column] = Span(stroke, style)
        else:
            low, high = sorted((before, level))
            for between in range(low + 1, high):
                canvas[bottom - between][column] = Span(upright, style)
            rising = level > before
            canvas[bottom - high][column] = Span(up_to if rising else down_from, style)
            canvas[bottom - low][column] = Span((up_from if rising else down_to) if low else leaves, style)
        before = level


def _merged(cells: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for cell in cells:
        if merged and merged[-1].style == cell.style:
            merged[-1] = Span(merged[-1].text + cell.text, cell.style)
        else:
            merged.append(cell)
    return merged


def _legend(curves: Sequence[Curve], width: int, look: Look) -> Row:
    title = "cards up over time   "
    spans = [Span(" " + title, "title")]
    room = max((width - len(title) - 1) // max(len(curves), 1) - 5, 3)
    for number, curve in enumerate(curves):
        name = look.says(curve.name)
        spans.append(Span(fit(name, room, look.glyphs.ellipsis).rstrip() + " ", "name"))
        spans.append(Span(look.glyphs.strokes[number] * 2 + "  ", f"line{number + 1}"))
    return fit_row(tuple(spans), width)


def _ticks(columns: int, length: int) -> list[tuple[int, int]]:
    """The columns, counted from the axis, and seconds of the times under the plot."""
    seconds = length / 1000
    most = max(columns // _TICK_ROOM, 1)
    step = next((step for step in _STEPS if seconds / step <= most), _STEPS[-1])
    while seconds / step > most:
        step *= 2
    return [(round(columns * at / seconds), at) for at in range(0, int(seconds) + 1, step)]


def _times(columns: int, length: int, margin: int, width: int) -> Row:
    text = ""
    for at, seconds in _ticks(columns, length):
        label = clock_text(seconds * 1000)
        start = min(max(margin - 1 + at - len(label) // 2, 0), width - len(label))
        if not text or start > len(text):
            text = text.ljust(start) + label
    return (Span(fit(text, width), "axis"),)

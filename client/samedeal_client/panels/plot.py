"""A plot of the cards on the foundations over time, drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from samedeal.errors import SamedealError
from samedeal.record import Record
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import fit_player_name
from samedeal_client.text.share_text import cards_at
from samedeal_client.text.spans import Row, Span, fit, fit_row, merged
from samedeal_client.text.time_text import short_clock_text

MAX_CURVES: Final = 4
MIN_WIDTH: Final = 24
MIN_HEIGHT: Final = 5
MAX_HEIGHT: Final = 24

_STEPS: Final = (10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
"""Possible distances, in seconds, between the times on the axis."""

_FEW_ROWS: Final = 8
"""Maximum height, in rows, of a plot in which each row is labelled with its number of cards."""

_TICK_COLUMNS: Final = 10
"""Minimum number of columns for a time on the axis."""


def top_of_plot(best: int, total: int) -> int:
    """Return the number of cards at the top of a plot.

    This is the ``best`` result rounded up to a multiple of 4, but at least 8 and at most ``total``.
    """
    return min(total, max(8, -(-best // 4) * 4))


class Curve(NamedTuple):
    """A player's progress.

    ``points`` has pairs of a time, in milliseconds since the start, and the number of foundation cards from then on.
    """

    name: str
    points: tuple[tuple[int, int], ...]


def record_curves(record: Record, me: str) -> list[Curve]:
    """Return the curves of the players in a record. The one of the player named ``me`` comes first, the others by place.

    Return no curves if an action is not allowed.
    """
    curves = []
    for player in sorted(record.players, key=lambda player: (player.name != me, player.place)):
        try:
            counts = [play.board.foundation_cards for play in record.plays(player)[1:]]
        except SamedealError:
            return []
        curves.append(Curve(player.name, tuple(zip((time for time, _ in player.actions), counts, strict=True))))
    return curves


def cards_plot(
    curves: Sequence[Curve], total: int, length: int, width: int, height: int, look: Look
) -> tuple[Row, ...]:
    """Plot up to ``MAX_CURVES`` curves in exactly ``width`` columns and ``height`` rows.

    ``total`` is the number of cards at the top of the plot, and ``length`` is the length of the race in milliseconds.
    The first curve is a continuous line, and the other curves are dotted. Where curves are on the same level, the
    columns show these curves in turn. Raise ValueError if ``width`` is less than ``MIN_WIDTH``, or ``height`` is less
    than ``MIN_HEIGHT``.
    """
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        raise ValueError(f"a plot needs at least {MIN_WIDTH} columns and {MIN_HEIGHT} rows, not {width} and {height}")
    shown = curves[:MAX_CURVES]
    margin = len(str(total)) + 3
    columns, rows = width - margin, height - 2
    length = max(length, 1000)
    canvas = _canvas(columns, rows, length, look)
    times = [length * (column + 1) / columns for column in range(columns)]
    levels = [
        [round(min(cards_at(curve.points, time), total) * (rows - 1) / total) for time in times] for curve in shown
    ]
    for number in range(len(shown) - 1, -1, -1):
        _draw(canvas, levels, number, look)
    labels = rows if rows <= _FEW_ROWS else 5
    labelled = {round(at * (rows - 1) / (labels - 1)) for at in range(labels)}
    lines = [_legend(shown, width, look)]
    for row, cells in enumerate(canvas):
        level = rows - 1 - row
        label = str(round(total * level / (rows - 1))) if level in labelled else ""
        edge = look.glyphs.plot[0] if level else look.glyphs.plot[1]
        lines.append((Span(f"{label:>{margin - 1}}{edge}", "axis"), *merged(cells)))
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


def _draw(canvas: list[list[Span]], levels: list[list[int]], number: int, look: Look) -> None:
    """Draw the curve ``number``. ``levels`` has the level of each curve in each column.

    Level 0 is the axis. No curve is drawn on the axis, except where the first curve leaves it or returns to it.
    """
    bottom = len(canvas) - 1
    style = f"line{number + 1}"
    stroke = look.glyphs.strokes[number]
    _, _, _, leaves, _, upright, up_to, up_from, down_from, down_to = look.glyphs.plot
    before = 0
    for column, level in enumerate(levels[number]):
        if number or level == before:
            on_level = [other for other, curve in enumerate(levels) if curve[column] == level]
            if level and on_level[column % len(on_level)] == number:
                canvas[bottom - level][column] = Span(stroke, style)
        else:
            low, high = sorted((before, level))
            for between in range(low + 1, high):
                canvas[bottom - between][column] = Span(upright, style)
            rising = level > before
            canvas[bottom - high][column] = Span(up_to if rising else down_from, style)
            canvas[bottom - low][column] = Span((up_from if rising else down_to) if low else leaves, style)
        before = level


def _legend(curves: Sequence[Curve], width: int, look: Look) -> Row:
    title = "foundations   "
    spans = [Span(" " + title, "title")]
    name_width = max((width - len(title) - 1) // max(len(curves), 1) - 5, 3)
    for number, curve in enumerate(curves):
        name = fit_player_name(curve.name, look, name_width, bot=False)
        spans.append(Span(f"{name.rstrip()} ", "name"))
        spans.append(Span(look.glyphs.strokes[number] * 2 + "  ", f"line{number + 1}"))
    return fit_row(tuple(spans), width)


def _ticks(columns: int, length: int) -> list[tuple[int, int]]:
    """Return the times on the axis: pairs of the column, counted from the vertical axis, and the seconds."""
    seconds = length / 1000
    most = max(columns // _TICK_COLUMNS, 1)
    step = next((step for step in _STEPS if seconds / step <= most), _STEPS[-1])
    while seconds / step > most:
        step *= 2
    return [(round(columns * at / seconds), at) for at in range(0, int(seconds) + 1, step)]


def _times(columns: int, length: int, margin: int, width: int) -> Row:
    text = ""
    for at, seconds in _ticks(columns, length):
        label = short_clock_text(seconds * 1000)
        start = min(max(margin - 1 + at - len(label) // 2, 0), width - len(label))
        if not text or start > len(text):
            text = text.ljust(start) + label
    return (Span(fit(text, width), "axis"),)

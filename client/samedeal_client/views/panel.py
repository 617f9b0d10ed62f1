"""Summaries beside and after a board, pure: clocks, bars, who is how far, and the standings. Rows are width-exact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from samedeal.names import columns_of
from samedeal.protocol.messages import Standing
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit, fit_row

BUSY: Final = 8
"""The moves in one slot of a sparkline that fill it."""

_LEAST_NAME: Final = 6
_LEAST_BAR: Final = 4
_WIDEST_BAR: Final = 46


def clock_text(ms: int) -> str:
    """A time as ``02:47`` or ``1:02:47``, the seconds that are full; a negative one as ``00:00``."""
    seconds = max(ms, 0) // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes:02}:{seconds % 60:02}"


def bar(up: int, total: int, width: int, look: Look) -> Row:
    """How much of ``total`` is up, by thickness and by style; never empty with a card up, full only with all of them."""
    glyphs = look.glyphs
    steps = 1 if glyphs.half_bar == glyphs.rest else 2
    filled = _share(up, total, width * steps)
    text = glyphs.bar * (filled // steps) + glyphs.half_bar * (filled % steps)
    spans = (Span(text, "bar"), Span(glyphs.rest * (width - len(text)), "rest"))
    return tuple(span for span in spans if span.text)


def _share(part: int, whole: int, steps: int) -> int:
    """A part of a whole in steps, rounded, but for the first and the last step."""
    if part <= 0 or whole <= 0:
        return 0
    if part >= whole:
        return steps
    return min(max(round(steps * part / whole), 1), steps - 1) if steps > 1 else 0


def sparkline(counts: Sequence[int], look: Look, busiest: int = BUSY) -> str:
    """A column for each count, its height by ``busiest`` or the highest of them; the lowest line is for 0 alone."""
    levels = look.glyphs.spark
    most = max(busiest, *counts, 1) if counts else 1
    return "".join(levels[-(-count * (len(levels) - 1) // most)] if count > 0 else levels[0] for count in counts)


class Rival(NamedTuple):
    """A player in the panel, oneself among them.

    ``activity`` are moves made in slots of time of equal length, oldest first; ``home`` is the time at which the last card
    went up, in milliseconds from the start; ``player`` is the public id.
    """

    rank: int
    name: str
    up: int
    total: int
    activity: tuple[int, ...] = ()
    you: bool = False
    connected: bool = True
    out: bool = False
    home: int | None = None
    player: str = ""


def race_title(players: int, watching: int, look: Look, width: int) -> Row:
    """The heading of the panel."""
    text = f" RACE  {players} player{'s' if players != 1 else ''}"
    watched = f" {look.glyphs.dot} {watching} watching" if watching else ""
    return fit_row((Span(text + (watched if len(text + watched) <= width else ""), "title"),), width)


def tally_lines(rivals: Sequence[Rival], look: Look, width: int, height: int) -> tuple[Row, ...]:
    """Who is how far, in at most ``height`` rows: two for each player, or one where that is too many.

    Where even that is too many the last row says how many are left out, never oneself.
    """
    if 2 * len(rivals) <= height:
        return tuple(row for rival in rivals for row in _two_lines(rival, look, width))
    if len(rivals) <= height:
        return _single_lines(rivals, look, width)
    shown = list(rivals[: max(height - 1, 0)])
    you = next((rival for rival in rivals if rival.you), None)
    if you is not None and you not in shown and shown:
        shown[-1] = you
    rest = f"   {look.glyphs.ellipsis} {len(rivals) - len(shown)} more"
    more = (Span(fit(rest, width, look.glyphs.ellipsis), "label"),)
    return (*_single_lines(shown, look, width), more)[:height]


def _head(rival: Rival, look: Look, width: int) -> Row:
    name = "you" if rival.you else look.says(rival.name)
    style = "you" if rival.you else "name" if rival.connected else "away"
    return (Span(f"{rival.rank:>2} ", "label"), Span(fit(name, width - 3, look.glyphs.ellipsis), style))


def _progress(rival: Rival) -> str:
    if rival.home is not None:
        return f"home {clock_text(rival.home)}"
    state = "out " if rival.out else "" if rival.connected else "away "
    return f"{state}{rival.up}/{rival.total}"


def _slots(rival: Rival, slots: int, look: Look) -> str:
    return sparkline(((0,) * slots + rival.activity)[-slots:], look)


@lru_cache(maxsize=256)
def _two_lines(rival: Rival, look: Look, width: int) -> tuple[Row, Row]:
    progress = f" {_progress(rival)} "
    first = (*_head(rival, look, max(width - len(progress), 0)), Span(progress, "count"))
    slots = 5 if width < 40 else 8
    length = min(width - 3 - 1 - slots - 1, _WIDEST_BAR)
    second = (Span("   "), *bar(rival.up, rival.total, max(length, 0), look), Span(" "))
    return fit_row(first, width), fit_row((*second, Span(_slots(rival, slots, look), "spark")), width)


def _single_lines(rivals: Sequence[Rival], look: Look, width: int) -> tuple[Row, ...]:
    room = max((len(_progress(rival)) for rival in rivals), default=0)
    name = max(_LEAST_NAME, min(20, width // 3))
    length = min(width - 3 - name - room - 3, _WIDEST_BAR)
    rows: list[Row] = []
    for rival in rivals:
        progress = Span(f" {_progress(rival):>{room}} ", "count")
        if length < _LEAST_BAR:
            rows.append(fit_row((*_head(rival, look, max(width - room - 2, 0)), progress), width))
        else:
            filled = (Span(" "), *bar(rival.up, rival.total, length, look))
            rows.append(fit_row((*_head(rival, look, 3 + name), *filled, progress), width))
    return tuple(rows)


def standings_lines(
    standings: Sequence[Standing], total: int, look: Look, width: int, you: str = ""
) -> tuple[Row, ...]:
    """The final order under a heading; ``you`` is one's own player id. Narrow screens go without the later columns."""
    glyphs = look.glyphs
    names = [look.says(line.name) + (" (you)" if line.player == you else "") for line in standings]
    room = max(12, *(columns_of(name) for name in names)) if names else 12
    columns: list[tuple[str, int, list[str]]] = [
        ("cards", 8, [f"{line.up}/{total}" for line in standings]),
        ("time", 9, [_finish(line, look) for line in standings]),
        ("moves", 7, [str(line.moves) for line in standings]),
        ("undos", 7, [str(line.undos) for line in standings]),
    ]
    while columns and 5 + min(room, 12) + sum(column[1] for column in columns) > width:
        columns.pop()
    room = max(min(room, width - 5 - sum(column[1] for column in columns)), 1)
    left = width - 5 - room - sum(column[1] for column in columns)
    length = min(left - 4, 20) if left >= _LEAST_BAR + 4 else 0
    heading = "  # " + fit("player", room) + "".join(f"{title:>{wide}}" for title, wide, _ in columns)
    rows = [fit_row((Span(" " + heading + ("   all up" if length else ""), "label"),), width)]
    for at, line in enumerate(standings):
        mine = line.player == you
        style = "you" if mine else "name"
        spans = [
            Span(f" {glyphs.pointer if mine else ' '}{line.place:>2} ", "label"),
            Span(fit(names[at], room, glyphs.ellipsis), style),
            Span("".join(f"{cells[at]:>{wide}}" for _, wide, cells in columns), "count"),
        ]
        if length:
            spans += [Span("   "), Span(_blocks(line.up, total, length, look), "bar")]
        rows.append(fit_row(tuple(spans), width))
    return tuple(rows)


def _finish(line: Standing, look: Look) -> str:
    if line.time:
        return clock_text(line.time)
    return "out" if line.out else look.glyphs.dash


def _blocks(up: int, total: int, width: int, look: Look) -> str:
    """A bar in eighths of a column, or in whole ones."""
    blocks = look.glyphs.blocks
    parts = len(blocks) - 1
    filled = _share(up, total, width * parts)
    text = blocks[-1] * (filled // parts) + (blocks[filled % parts] if filled % parts else "")
    return text.ljust(width)

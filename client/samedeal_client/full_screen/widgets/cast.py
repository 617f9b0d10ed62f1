"""A recorded race as an asciicast, which ``asciinema play`` and web pages show (format version 2)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Final

from rich.console import Console

from samedeal_client.board.layout import Size
from samedeal_client.full_screen.widgets.style_colours import strip_of
from samedeal_client.panels.records import record_heading
from samedeal_client.panels.replay import grid_rows, last_action, slider_row
from samedeal_client.terminal_io.changed_cells import TerminalCells
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, fit_row
from samedeal_link.records.replay import RecordedRace, Replay

WIDTH: Final = 110
HEIGHT: Final = 34

_IDLE: Final = 3.0
"""Time, in seconds, to which players of asciicasts shorten pauses."""


def cast_lines(race: RecordedRace, look: Look, only: int | None = None) -> Iterator[str]:
    """Yield the lines of an asciicast of a race, of all boards or of one player's. Nothing is drawn between two actions."""
    header = {"version": 2, "width": WIDTH, "height": HEIGHT, "idle_time_limit": _IDLE}
    yield json.dumps({**header, "title": record_heading(race.record), "timestamp": race.record.start // 1000})
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", legacy_windows=False)
    cells = TerminalCells()
    replay = Replay(chosen=(only or 0,), everyone=only is None and len(race.tracks) > 1)
    shown = [race.tracks[number] for number in replay.shown(race)]
    for time in sorted({0, race.length, *(time for track in shown for time in track.times)}):
        rows = _rows(race, replay.at(time, race), look.on_table())
        drawn = "".join(f"\x1b[{y};1H{strip_of(row, look.on_table()).render(console)}" for y, row in enumerate(rows, 1))
        start = "\x1b[2J\x1b[?25l" if time == 0 else ""
        yield json.dumps([time / 1000, "o", start + cells.reduced(drawn)], ensure_ascii=False)


def _rows(race: RecordedRace, replay: Replay, look: Look) -> list[Row]:
    """Return the rows of the whole screen: a title, the boards, the last action and the slider."""
    rows = [
        ((Span(f" {look.displayable(record_heading(race.record))}", "title"),)),
        *grid_rows(race, replay, look, Size(WIDTH, HEIGHT - 3)),
    ]
    rows += [(Span(" "),)] * (HEIGHT - 2 - len(rows))
    rows += [(Span(f" {last_action(race, replay, look)}", "label"),), slider_row(replay, race, look, WIDTH)]
    return [fit_row(row, WIDTH) for row in rows]

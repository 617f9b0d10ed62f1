"""The final standings of a race as a table. All rows have exactly the requested width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from samedeal.protocol.messages import Standing
from samedeal.terminal_text import columns_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import fit_player_name, player_name
from samedeal_client.text.spans import Row, Span, fit, fit_row
from samedeal_client.text.time_text import clock_text
from samedeal_client.views.progress_bars import filled_steps

_MIN_BAR: Final = 4


def standings_rows(standings: Sequence[Standing], total: int, look: Look, width: int, you: str = "") -> tuple[Row, ...]:
    """The standings below a heading. ``you`` is the id of this client's player. Narrow screens drop the last columns."""
    glyphs = look.glyphs
    names = [
        player_name(line.name, look, bot=line.bot) + (" (you)" if line.player == you else "") for line in standings
    ]
    name_width = max(12, *(columns_of(name) for name in names)) if names else 12
    columns: list[tuple[str, int, list[str]]] = [
        ("foundations", 12, [f"{line.foundation_cards}/{total}" for line in standings]),
        ("time", 9, [_finish_text(line, look) for line in standings]),
        ("moves", 7, [str(line.moves) for line in standings]),
        ("undos", 7, [str(line.undos) for line in standings]),
    ]
    while len(columns) > 1 and 5 + min(name_width, 12) + sum(column[1] for column in columns) > width:
        columns.pop()
    name_width = max(min(name_width, width - 5 - sum(column[1] for column in columns)), 1)
    left = width - 5 - name_width - sum(column[1] for column in columns)
    length = min(left - 4, 20) if left >= _MIN_BAR + 4 else 0
    heading = "  # " + fit("player", name_width) + "".join(f"{title:>{wide}}" for title, wide, _ in columns)
    rows = [fit_row((Span(" " + heading, "label"),), width)]
    for row, line in enumerate(standings):
        mine = line.player == you
        style = "you" if mine else "name"
        spans = [
            Span(f" {glyphs.pointer if mine else ' '}{line.place:>2} ", "label"),
            Span(
                fit(names[row], name_width, glyphs.ellipsis)
                if mine
                else fit_player_name(line.name, look, name_width, bot=line.bot),
                style,
            ),
            Span("".join(f"{cells[row]:>{wide}}" for _, wide, cells in columns), "count"),
        ]
        if length:
            spans += [Span("   "), Span(_blocks(line.foundation_cards, total, length, look), "you" if mine else "bar")]
        rows.append(fit_row(tuple(spans), width))
    return tuple(rows)


def _finish_text(line: Standing, look: Look) -> str:
    if line.time:
        return clock_text(line.time)
    return "resigned" if line.resigned else look.glyphs.dash


def _blocks(part: int, total: int, width: int, look: Look) -> str:
    """A bar in steps of an eighth of a column, or of whole columns in ASCII."""
    blocks = look.glyphs.blocks
    parts = len(blocks) - 1
    filled = filled_steps(part, total, width * parts)
    text = blocks[-1] * (filled // parts) + (blocks[filled % parts] if filled % parts else "")
    return text.ljust(width)

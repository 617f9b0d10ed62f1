"""The final standings of a race as the rows of a table."""

from __future__ import annotations

from typing import Final

from samedeal.protocol.messages import Standing
from samedeal_client.panels.meters import filled_steps
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span
from samedeal_client.text.time_text import clock_text

HEADINGS: Final = ("#", "Player", "Foundations", "Time", "Moves", "Undos", "")
_BAR: Final = 20


def standing_cells(line: Standing, total: int, look: Look, *, you: bool, width: int) -> tuple[Row, ...]:
    """Return a player's result as a row of a table, in the order of ``HEADINGS``, for a window of ``width`` columns."""
    bar = min(_BAR, width - 60)
    return (
        (Span(str(line.place), "label"),),
        (Span(player_name(line.name, look, bot=line.bot) + " (you)" * you, "you" if you else "name"),),
        (Span(f"{line.foundation_cards}/{total}", "count"),),
        (Span(finish_text(line), "count"),),
        (Span(str(line.moves), "count"),),
        (Span(str(line.undos), "count"),),
        (Span(_blocks(line.foundation_cards, total, bar, look) if bar > 0 else "", "you" if you else "bar"),),
    )


def finish_text(line: Standing) -> str:
    """Return a player's finish time, or a word for how the race ended for the player."""
    if line.time:
        return clock_text(line.time)
    return "resigned" if line.resigned else "unfinished"


def _blocks(part: int, total: int, width: int, look: Look) -> str:
    """Return a bar in steps of an eighth of a column, or of whole columns in ASCII."""
    blocks = look.glyphs.blocks
    parts = len(blocks) - 1
    filled = filled_steps(part, total, width * parts)
    return blocks[-1] * (filled // parts) + (blocks[filled % parts] if filled % parts else "")

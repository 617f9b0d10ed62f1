"""The final standings of a race as the rows of a table, and as lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from samedeal.protocol.messages import Standing
from samedeal_client.panels.meters import bar
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span, counted
from samedeal_client.text.time_text import ordinal, short_clock_text

HEADINGS: Final = ("#", "Player", "Foundations", "Time", "Moves", "Undos", "")
_BAR: Final = 20


def standing_cells(line: Standing, total: int, look: Look, *, you: bool, width: int) -> tuple[Row, ...]:
    """Return a player's result as a row of a table, in the order of ``HEADINGS``, for a window of ``width`` columns."""
    length = max(min(_BAR, width - 60), 0)
    return (
        (Span(str(line.place or ""), "label"),),
        (Span(player_name(line.name, look, bot=line.bot) + " (you)" * you, "you" if you else "name"),),
        (Span(f"{line.foundation_cards}/{total}", "count"),),
        (Span(finish_text(line), "count"),),
        (Span(str(line.moves), "count"),),
        (Span(str(line.undos), "count"),),
        bar(line.foundation_cards, total, length, look, "you" if you else "bar"),
    )


def standing_lines(standings: Iterable[Standing], total: int, look: Look, me: str = "") -> list[str]:
    """Return the results as lines, as in ``1st: ada (bot), finished in 5:52, 40 moves.`` ``me`` is the player's id."""
    lines = []
    for line in standings:
        name = "you" if line.player == me else player_name(line.name, look, bot=line.bot)
        cards = f"{line.foundation_cards} of {total} cards"
        left = f"resigned with {cards}" if line.resigned else cards
        result = f"finished in {short_clock_text(line.time)}" if line.time else left
        undos = f" and {counted(line.undos, 'undo')}" if line.undos else ""
        raced = f"{ordinal(line.place)}: {name}, {result}, {counted(line.moves, 'move')}{undos}."
        lines.append(raced if line.place else f"Did not race: {name}.")
    return lines


def finish_text(line: Standing) -> str:
    """Return a player's finish time, or a word for how the race ended for the player."""
    if line.time:
        return short_clock_text(line.time)
    return "resigned" if line.resigned else "unfinished" if line.place else "did not race"

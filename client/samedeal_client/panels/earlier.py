"""The players of an earlier race whose deal was dealt again, as rows of text."""

from __future__ import annotations

from samedeal.standings import Result, ranked
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span, fit
from samedeal_client.text.time_text import short_clock_text
from samedeal_link.model.model import Model

_NAME_WIDTH = 24


def earlier_rows(model: Model, look: Look) -> tuple[Row, ...]:
    """Return the results of an earlier race with this deal, and the player's own among them. Return no rows outside one."""
    room = model.room
    if room is None or not room.earlier or not room.standings:
        return ()
    lines = [
        *((line.name, line.foundation_cards, line.time) for line in room.standings),
        *((line.name, line.foundation_cards, line.time) for line in room.earlier),
    ]
    placed = ranked((line, Result(seat, line[1], line[2], 0)) for seat, line in enumerate(lines))
    rows: list[Row] = [(Span("Among those who had this deal before", "title"),)]
    for place, (name, cards, time) in placed:
        result = short_clock_text(time) if time else f"{cards} of {model.game.cards} cards"
        is_own = (name, cards, time) == lines[0]
        rows.append(
            (
                Span(f"{place:>3}  ", "count"),
                Span(fit(player_name(name, look, bot=False), _NAME_WIDTH), "you" if is_own else "name"),
                Span(f"  {result}", "label"),
            )
        )
    return tuple(rows)

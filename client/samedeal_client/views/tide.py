"""The next tide, and the table of a tide or of a day, as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from samedeal.protocol.messages import TideTime
from samedeal.tides import OPEN_FOR, next_tides
from samedeal_client.state.model import Model
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span, fit
from samedeal_client.text.time_text import clock_text, ordinal

_NAME_WIDTH = 20


def tide_text(tides: Sequence[TideTime], now: int) -> str:
    """Return the game of the next tide and the time until it starts, or an empty text if there is none."""
    start, game = next(next_tides(tides, now), (0, ""))
    is_open = ", open now" if start - now <= OPEN_FOR else ""
    return f"{title_of(game)} in {clock_text(start - now)}{is_open}" if start else ""


def tide_title(tide: int) -> str:
    """Return the name of a tide from the time of its start, or an empty text if that is 0."""
    return f"tide of {datetime.fromtimestamp(tide / 1000, UTC):%H:%M} UTC" if tide else ""


def tide_rows(model: Model, look: Look) -> tuple[Row, ...]:
    """Return the first lines of a table and those around the player's own, first of people, then of bots.

    Return no rows if the client follows no table.
    """
    table, room = model.table, model.room
    if table is None or room is None or room.tide != table.tide:
        return ()
    day = datetime.fromtimestamp(table.tide / 1000, UTC).date()
    what = (
        f"All tides of {day} in {title_of(table.game)}" if table.day else f"All rooms of the {tide_title(table.tide)}"
    )
    rows: list[Row] = []
    for is_bot, count, who in ((False, table.people, "player"), (True, table.bots, "bot")):
        lines = [line for line in table.lines if line.bot is is_bot]
        if lines:
            rows.append((Span(look.displayable(f"{what}: {count} {who}{'s' if count != 1 else ''}"), "title"),))
        gap = next((number for number, line in enumerate(lines, 1) if line.place > number), 0)
        for number, line in enumerate(lines, 1):
            if number == gap:
                rows.append((Span("  ..", "label"),))
            result = clock_text(line.time) if line.time else f"{line.foundation_cards} of {model.game.cards} cards"
            among = f"  {ordinal(line.deal_place)} with the same cards" if line.deal_place != line.place else ""
            rows.append(
                (
                    Span(f"{line.place:>4}  ", "count"),
                    Span(
                        fit(player_name(line.name, look, bot=is_bot), _NAME_WIDTH),
                        "you" if line.player == model.me else "name",
                    ),
                    Span(f"  {result:<14}{among}{'  racing' * line.racing}", "label"),
                )
            )
    return tuple(rows)

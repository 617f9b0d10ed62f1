"""The table of a series, as rows of text."""

from __future__ import annotations

from samedeal.protocol.messages import RoomState
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span, counted, fit
from samedeal_client.text.time_text import short_clock_text

_NAME_WIDTH = 20


def series_title(room: RoomState) -> str:
    """Return which race of its series a race is, or who has won the series. Return an empty text outside a series."""
    races = room.options.series
    number = room.round % races + 1
    if races == 1:
        return ""
    if room.standings and number == races:
        return f"{' and '.join(line.name for line in room.table if line.place == 1)} won the series of {races} races"
    return f"Race {number} of {races}"


def goes_on(room: RoomState) -> bool:
    """Return whether the rematch of a race is the next race of its series."""
    return (room.round + 1) % room.options.series > 0


def rematch_name(room: RoomState) -> str:
    """Return what players call the rematch of a race."""
    return "next race" if goes_on(room) else "rematch"


def series_rows(room: RoomState, me: str, look: Look) -> tuple[Row, ...]:
    """Return the title and the table of a series. Return no rows outside a series."""
    title = series_title(room)
    if not title:
        return ()
    rows: list[Row] = [(Span(look.displayable(title), "good title" if "won" in title else "title"),)]
    for line in room.table:
        name = fit(player_name(line.name, look, bot=line.bot), _NAME_WIDTH)
        points = counted(line.points, "point")
        races = counted(line.races, "race")
        rows.append(
            (
                Span(f"{line.place:>3}  ", "count"),
                Span(name, "you" if line.player == me else "name"),
                Span(f"  {points:<11}", "title"),
                Span(f"  {short_clock_text(line.time)} in {races}", "label"),
            )
        )
    return tuple(rows)

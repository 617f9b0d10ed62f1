"""Series: several races with one table.

As at duplicate tables, a player gets a point for each player that is beaten, and half a point for each one with the same
place. Equal points are decided by the time of all races together. A race that a player did not finish counts as long as
the race lasted. A player who leaves keeps the points, and one who comes late has none for the races before. In a race with
a window, players who never began have no race, unless nobody has begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from samedeal.board_history import UNDO
from samedeal.names import SERIES
from samedeal.protocol.messages import RoomState, Standing, TableLine
from samedeal.record import Record


def with_race(table: Iterable[TableLine], standings: Sequence[Standing], length: int) -> tuple[TableLine, ...]:
    """Return a table with the results of one more race. ``length`` is how long it lasted, in milliseconds."""
    standings = [line for line in standings if line.began_at] or standings
    totals = {line.player: (line.name, line.races, line.points, line.time, line.bot) for line in table}
    for own in standings:
        _, races, points, time, _ = totals.get(own.player, ("", 0, 0.0, 0, False))
        points += sum((own.place < other.place) + (own.place == other.place) / 2 for other in standings) - 0.5
        totals[own.player] = own.name, races + 1, points, time + (own.time or length), own.bot
    ranks = {player: (-points, time) for player, (_, _, points, time, _) in totals.items()}
    ordered = sorted(ranks.values())
    return tuple(
        TableLine(ordered.index(ranks[player]) + 1, player, *totals[player])
        for player in sorted(totals, key=lambda player: (ranks[player], totals[player][0], player))
    )


def place_of(room: RoomState) -> str:
    """Return what leads to a room: its code, or in a standing series that of the series, such as ``s/friday``."""
    return SERIES + (*room.rooms_before, room.room)[0] if room.opens else room.room


def record_standings(record: Record) -> tuple[Standing, ...]:
    """Return the standings of the players in a record, the first place first. A player's name also serves as the id."""
    standings = []
    for player in sorted(record.players, key=lambda player: (player.place, player.seat)):
        undos = sum(action == UNDO for _, action in player.actions)
        standings.append(
            Standing(
                place=player.place,
                player=player.name,
                name=player.name,
                foundation_cards=player.foundation_cards,
                time=player.time,
                moves=len(player.actions) - undos,
                undos=undos,
                resigned=player.resigned,
                bot=player.bot,
                began_at=player.began_at,
            )
        )
    return tuple(standings)


def table_of(records: Iterable[Record]) -> tuple[TableLine, ...]:
    """Return the table of a series from the records of its races. Players are known by their names."""
    table: tuple[TableLine, ...] = ()
    for record in records:
        table = with_race(table, record_standings(record), record.length)
    return table

"""Series: rematches continue one table."""

from __future__ import annotations

from samedeal.protocol.messages import Created, Rematch, RoomState
from samedeal.series import table_of
from tests.server.live_nodes import Node
from tests.server.races import kept, raced


def rows(state: RoomState) -> list[tuple[str, int, float]]:
    return [(line.name, line.races, line.points) for line in state.table]


async def test_series_has_one_table_that_its_records_give_again(one: Node, two: Node) -> None:
    """One player comes late, and one leaves."""
    ana, bo, cy = await one.player("ana"), await two.player("bo"), await one.player("cy")
    room = await ana.create("friday", games=("athena", "steve"), series=2, countdown=0)
    first = await raced(room, ana, bo)
    assert sorted(rows(first)) == [("ana", 1, 0.5), ("bo", 1, 0.5)]
    second_room = (await ana.expect(Created, Rematch)).room
    await bo.abort()
    await cy.join(second_room)
    second = await raced(second_room, ana, cy)
    assert (first.rooms_before, second.rooms_before) == ((), (room,))
    assert sorted(rows(second)) == [("ana", 2, 1), ("bo", 1, 0.5), ("cy", 1, 0.5)]
    records = [await kept(ana, each) for each in (room, second_room)]
    assert [(line.name, line.races, line.points, line.time) for line in table_of(records)] == [
        (line.name, line.races, line.points, line.time) for line in second.table
    ]
    third_room = (await ana.expect(Created, Rematch)).room
    await ana.join(third_room)
    third = await ana.state(lambda state: state.room == third_room)
    assert (rows(third), third.rooms_before) == ([], ())  # another series

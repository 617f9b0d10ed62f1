from __future__ import annotations

from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.panels.spectator_grid import sort_players
from samedeal_link.records.spectating import SORT_ORDERS


def test_sort_players() -> None:
    rivals = [
        RankedPlayer(1, "mira", 9, 52, activity=(1, 1), player="a"),
        RankedPlayer(2, "Ana", 5, 52, activity=(9, 0), player="b"),
        RankedPlayer(3, "bert", 1, 52, activity=(0, 3), player="c"),
    ]
    seats = {"a": 2, "b": 3, "c": 1}
    found = {order: "".join(each.player for each in sort_players(rivals, order, seats)) for order in SORT_ORDERS}
    assert found == {"place": "abc", "seat": "cab", "name": "bca", "pace": "bca"}

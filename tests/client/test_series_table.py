"""The table of a series, as a client shows it while its players wait and after a race."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import Standing, TableLine
from samedeal_client.panels.series import series_rows
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from tests.client.lone_player import ROOM

ADA = TableLine(place=1, player="a", name="ada", races=2, points=1.5, time=61_000)
BO = TableLine(place=2, player="b", name="bo", races=1, points=1, time=60_000, bot=True)
RESULTS = (Standing(place=1, player="a", name="ada", foundation_cards=0, time=0, moves=0, undos=0),)


def shown(series: int = 3, **fields: Any) -> list[str]:
    options = Options(series=series)
    room = replace(ROOM, room="friday-2", phase="open", options=options, players=(), tallies=(), **fields)
    return [" ".join(row_text(row).split()) for row in series_rows(room, "a", Look())]


ROWS = ["1 ada 1.5 points 01:01 in 2 races", "2 bo (bot) 1 point 01:00 in 1 race"]
REPLAY = "To replay an earlier race: samedeal replay SERVER ROOM, with friday, friday-2 as ROOM"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["Race 1 of 3"]),
        ({"round": 4, "table": (ADA, BO)}, ["Race 2 of 3", *ROWS]),
        (
            {"round": 2, "table": (ADA, BO), "standings": RESULTS, "rooms_before": ("friday", "friday-2")},
            ["ada won the series of 3 races", *ROWS, REPLAY],
        ),
        ({"series": 1, "table": (ADA,)}, []),
    ],
    ids=["first", "under way", "won", "no series"],
)
def test_rows_of_a_series(fields: dict[str, Any], expected: list[str]) -> None:
    assert shown(**fields) == expected

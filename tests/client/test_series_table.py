"""The table of a series, as a client shows it while its players wait and after a race."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import Standing, TableLine
from samedeal_client.panels.series import series_rows
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from tests.client.lone_player import ROOM
from tests.golden.golden_files import assert_sentences

ADA = TableLine(place=1, player="a", name="ada", races=2, points=1.5, time=61_000)
BO = TableLine(place=2, player="b", name="bo", races=1, points=1, time=60_000, bot=True)
RESULTS = (Standing(place=1, player="a", name="ada", foundation_cards=0, time=0, moves=0, undos=0),)


def rows(series: int = 3, **fields: Any) -> list[str]:
    options = Options(series=series)
    room = replace(ROOM, room="friday-2", phase="open", options=options, players=(), tallies=(), **fields)
    return [" ".join(row_text(row).split()) for row in series_rows(room, "a", Look())]


def test_wording_of_a_series() -> None:
    shown = {
        "first": rows(),
        "under way": rows(round=4, table=(ADA, BO)),
        "won": rows(round=2, table=(ADA, BO), standings=RESULTS, rooms_before=("friday", "friday-2")),
    }
    assert_sentences("series", [f"{case}\t{line}" for case, lines in shown.items() for line in lines])
    assert rows(series=1, table=(ADA,)) == []

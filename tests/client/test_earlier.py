"""The players of an earlier race, as a client shows them while its player races on their deal, and afterwards."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from samedeal.protocol.codec import encode
from samedeal.protocol.messages import EarlierPlayer
from samedeal_client.net.sanitize import decode_sanitized
from samedeal_client.state.model import Model
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_client.views.earlier import earlier_rows
from samedeal_client.views.live_ranking import current_ranking
from tests.client.lone_player import OWN
from tests.client.lone_player import ROOM as LONE_ROOM

FAST = EarlierPlayer(name="ada", foundation_cards=3, time=0, reached=(1_000, 2_000, 3_000))
WINNER = EarlierPlayer(name="june", foundation_cards=52, time=9_000, reached=(8_000,) * 51 + (9_000,))


ROOM = replace(LONE_ROOM, deal=f"again {'0' * 64}", earlier=(FAST, WINNER))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (0, "mira 2, ada, earlier 0, june, earlier 0"),
        (2_500, "mira 2, ada, earlier 2, june, earlier 0"),
        (3_000, "ada, earlier 3, mira 2, june, earlier 0"),
        (9_000, "june, earlier 52, ada, earlier 3, mira 2"),
    ],
)
def test_earlier_players_stand_as_they_did_then(after: int, expected: str) -> None:
    model = Model(me="m", room=ROOM, tallies={"m": ROOM.tallies[0]})
    ranking = current_ranking(model, ROOM.starts + after)
    assert ", ".join(f"{line.name} {line.foundation_cards}" for line in ranking) == expected


def test_room_with_a_repeated_deal_is_not_cut() -> None:
    """The name of its deal is longer than other names."""
    assert decode_sanitized(encode(ROOM)) == ROOM


def test_results_show_the_player_among_them() -> None:
    model = Model(me="m", room=replace(ROOM, phase="finished", standings=(OWN,)))
    assert [row_text(row).split() for row in earlier_rows(model, Look())] == [
        ["Among", "those", "who", "had", "this", "deal", "before"],
        ["1", "june", "00:09"],
        ["2", "mira", "31", "of", "52", "cards"],
        ["3", "ada", "3", "of", "52", "cards"],
    ]

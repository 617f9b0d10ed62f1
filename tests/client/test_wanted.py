"""What a player asked for, compared with the terms of the room."""

from __future__ import annotations

from typing import Any

import pytest

from samedeal.deal import Deal
from samedeal.options import Options
from samedeal.terms import RoomTerms
from samedeal_link.evidence.facts import ANYTHING, Wanted

START = 1_795_203_000_000
TIDE = Options.scheduled("willow", START, 10, bots=False, players=64)


def terms(options: Options, **fields: Any) -> RoomTerms:
    return RoomTerms.of("friday", options, Deal.parse(options.deal), **fields)


@pytest.mark.parametrize(
    ("wanted", "options", "tide", "expected"),
    [
        (ANYTHING, TIDE, START, ""),
        (Wanted(game="willow"), TIDE, START, ""),  # the race that starts soonest is that of a tide
        (Wanted(game="willow"), Options(), 0, ""),
        (Wanted(game="athena"), TIDE, START, "game"),
        (Wanted(game="willow", tide=START), TIDE, START, ""),
        (Wanted(game="willow", tide=START), TIDE, START + 60_000, "tide"),
        (Wanted(game="willow", tide=START), TIDE, 0, "tide"),
        (Wanted(options=Options(), round=0), Options(), 0, ""),
        (Wanted(options=Options(), round=0), Options(), START, "tide"),
        (Wanted(options=Options(), round=0), Options(players=9), 0, "players"),
        (Wanted(options=Options(), private=False), Options(), 0, ""),
        (Wanted(options=Options(), private=True), Options(), 0, "rule for who may enter"),
    ],
)
def test_room_that_the_player_did_not_ask_for_is_found(
    wanted: Wanted, options: Options, tide: int, expected: str
) -> None:
    assert wanted.difference(terms(options, tide=tide)) == expected

"""What a player asked for, compared with the terms of the room."""

from __future__ import annotations

from typing import Any

from samedeal.options import Options
from samedeal.terms import RoomTerms
from samedeal_link.evidence.facts import ANYTHING, Wanted  # noqa: F401 (for the page)
from tests.client.room_lines import line  # noqa: F401 (for the page)
from tests.golden.golden_files import assert_answers
from tests.shared.recorded import described_terms

START = 1_795_203_000_000
ENDS = START + 3_600_000
TIDE = Options.scheduled("willow", START, 10, bots=False, players=64)


def terms(options: Options, **fields: Any) -> RoomTerms:
    return described_terms("friday", options, options.deal, **fields)


def test_room_that_the_player_did_not_ask_for_is_found() -> None:
    def answer(_: str, question: str) -> str:
        wanted, options, tide, *window = eval(question)
        return str(wanted.difference(terms(options, tide=tide, window=(*window, 0)[0]), ENDS))

    assert_answers("wanted", answer)

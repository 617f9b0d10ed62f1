"""A player's input as a value: keys that wait, prompts, drags, hints and piles shown in full."""

from __future__ import annotations

from samedeal.moves import Move
from samedeal_client.input.controller import (
    DESTINATION_WINDOW,
    MAX_QUEUED_KEYS,
    QUEUE_FULL,
    RaceController,
)
from tests.client.boards import board

WILLOW = board("willow", "1: KS | 2: 9H QH | 3: 4C JC TD | 4: 7S | 6: 8D AS | q: 5H 7H")


def test_key_beyond_the_maximum_is_not_queued() -> None:
    full = RaceController(queue=("3",) * MAX_QUEUED_KEYS)
    response = full.press("2", WILLOW, 0.0, awaiting_face=True)
    assert (response.message, response.controller) == (QUEUE_FULL, full)


def test_quick_destination_of_an_empty_source_is_no_source() -> None:
    rejected = RaceController().press("5", WILLOW, 0.0).controller
    assert rejected.press("6", WILLOW, DESTINATION_WINDOW).controller.grammar.source == ""
    assert rejected.press("6", WILLOW, DESTINATION_WINDOW + 0.1).controller.grammar.source == "6"


def test_hint_is_shown_on_its_board_until_cancelled() -> None:
    hinted = RaceController().hinted(WILLOW, Move("6", "0"))
    assert hinted.marks(WILLOW, None).hint == Move("6", "0")
    assert hinted.marks(WILLOW.play(Move("6", "0")).board, None).hint is None
    assert hinted.press("escape", WILLOW, 0.0).controller.hint is None

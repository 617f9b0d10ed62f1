"""A player's input as a value: keys that wait, prompts, drags, hints and piles shown in full."""

from __future__ import annotations

from samedeal.board import Board
from samedeal.moves import Move
from samedeal_client.board.board_picture import HitTarget
from samedeal_client.input.bindings import KeyCommand
from samedeal_client.input.controller import (
    DESTINATION_WINDOW,
    MAX_QUEUED_KEYS,
    NOT_DEALT,
    QUEUE_FULL,
    ControllerResult,
    RaceController,
)
from tests.client.boards import board

WILLOW = board("willow", "1: KS | 2: 9H QH | 3: 4C JC TD | 4: 7S | 6: 8D AS | q: 5H 7H")
JACK, QUEEN = HitTarget("3", 1), HitTarget("2", 1)


def typed(*keys: str, on: Board | None = WILLOW, awaiting_face: bool = False) -> ControllerResult:
    """The response to the last of some keys, typed at once."""
    response = ControllerResult(RaceController())
    for key in keys:
        response = response.controller.press(key, on, 0.0, awaiting_face=awaiting_face)
    return response


def test_keys_before_the_deal_are_refused_except_help() -> None:
    assert typed("3", on=None).message == NOT_DEALT
    assert typed("f1", on=None).action == KeyCommand.HELP


def test_cancel_clears_the_queue() -> None:
    assert typed("3", "2", "escape", awaiting_face=True).controller.queue == ()


def test_key_beyond_the_maximum_is_not_queued() -> None:
    full = RaceController(queue=("3",) * MAX_QUEUED_KEYS)
    response = full.press("2", WILLOW, 0.0, awaiting_face=True)
    assert (response.message, response.controller) == (QUEUE_FULL, full)


def test_quick_destination_of_an_empty_source_is_no_source() -> None:
    rejected = typed("5").controller
    assert rejected.press("6", WILLOW, DESTINATION_WINDOW).controller.grammar.source == ""
    assert rejected.press("6", WILLOW, DESTINATION_WINDOW + 0.1).controller.grammar.source == "6"


def test_keys_of_a_hint_move_as_many_cards_as_it_says() -> None:
    now = board("willow", "1: KH QS JD TC | 2: | 3: 9H")
    hint = Move("1", "2", 2)
    controller = RaceController().hinted(now, hint)
    assert controller.press("1", now, 0.0).controller.press("2", now, 0.0).action == hint
    assert RaceController().press("1", now, 0.0).controller.press("2", now, 0.0).action != hint


def test_hint_is_shown_on_its_board_until_cancelled() -> None:
    hinted = RaceController().hinted(WILLOW, Move("6", "0"))
    assert hinted.marks(WILLOW, None).hint == Move("6", "0")
    assert hinted.marks(WILLOW.play(Move("6", "0")).board, None).hint is None
    assert hinted.press("escape", WILLOW, 0.0).controller.hint is None

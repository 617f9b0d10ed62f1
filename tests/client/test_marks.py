"""Which piles and cards a selection or a move marks."""

from __future__ import annotations

import pytest

from samedeal.cards import Card
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
from samedeal_client.board.foundation_order import foundation_for, foundations_shown
from samedeal_client.board.marks import arrived_cards, selection_marks
from tests.client.boards import board, golden_position


def test_targets_that_take_fewer_cards_are_partial() -> None:
    now = board("willow", "1: KH 9S 8H | 2: 9C | 3: TD | 4: 7H | q: 8S | 02: AH-7H")
    assert set(selection_marks(now, "1").partial) == {("2", 1), ("q", 1), ("02", 1)}


def test_foundation_is_that_of_the_suit() -> None:
    now = board("willow", "02: AH-7H")
    assert foundation_for(now, Card.parse("AS")) == "01"
    assert foundation_for(now, Card.parse("2S")) is None


@pytest.mark.parametrize("ace", ["AC", "AD", "AH", "AS"])
def test_ace_marks_the_place_where_it_will_be_shown(ace: str) -> None:
    before = board("athena", f"1: {ace} | 02: AS 2S" if ace != "AS" else "1: AS | 03: AC")
    (target,) = selection_marks(before, "1").targets
    after, _ = before.play(Move("1", FOUNDATION))
    place = [before.game.keys[at] for at, _ in foundations_shown(before)].index(target)
    shown = [after.piles[at] for at, _ in foundations_shown(after)]
    assert shown.index(bytes([Card.parse(ace)])) == place


def test_arrived_cards_follow_from_the_step() -> None:
    athena, steve = golden_position("athena", "start"), golden_position("steve", "start")
    drawn = athena.play(DRAW)
    assert arrived_cards(drawn.board, drawn.step) == (("w", 3),)
    emptied = board("athena", "w: AC 2C")
    assert arrived_cards(*emptied.play(DRAW)) == ()
    assert arrived_cards(*steve.play(DEAL)) == tuple((str(key), 1) for key in range(1, 9))
    two = board("steve", "1: 9C 8C | 2: TD")
    assert arrived_cards(*two.play(Move("1", "2", 2))) == (("2", 2),)
    assert arrived_cards(*board("steve", "1: AC").play(Move("1", FOUNDATION))) == (("01", 1),)

"""The proof of a dead end. It never holds while a card can be turned up or go to a foundation."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.laws.stuck import is_dead_end, is_stuck_for_good
from tests.client.boards import board, reachable
from tests.golden.golden_files import assert_answers


def proven(_: str, question: str) -> str:
    game, _, text = question.partition(" @ ")
    assert is_dead_end(board(game, text)) == is_dead_end(board(game, text).masked())
    return "a dead end" if is_dead_end(board(game, text)) else "not proven"


def test_dead_ends_are_proven_as_the_page_says() -> None:
    assert_answers("dead_ends", proven)


def test_long_proof_is_given_up() -> None:
    now = board("phoenix", "1: KH JS TH | 2: KC JC | 3: KD 5C | 4: KS 5S | 5: QD 5D | 6: QH 5H")
    assert is_dead_end(now)
    assert not is_dead_end(now, 1)


ONE_CARD_UP = "1: 9H AH | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S"
ONE_EMPTY_COLUMN = "1: AH 9S | 2: 9C | 3: 9H 9D | 4: KS | 5: KC | 6: KH"
ACE_ON_A_HIDDEN_CARD = "1: [8D] AS | 2: 8H | 3: KS | 4: KC | 5: 2C | 6: 4C | 7: 4D"


@pytest.mark.parametrize(
    ("game", "position", "move", "rules"),
    [
        ("willow", ONE_CARD_UP, "1 0", {Undo.OFF, Undo.NO_REVEAL, Undo.FREE}),
        ("willow", ONE_EMPTY_COLUMN, "3 7", {Undo.OFF}),  # with an undo, the ace can be freed
        ("willow", ONE_EMPTY_COLUMN, "1 7", set()),
        ("athena", ACE_ON_A_HIDDEN_CARD, "1 0", {Undo.OFF, Undo.NO_REVEAL, Undo.FREE}),
    ],
)
def test_stuck_for_good_takes_undo_into_account(game: str, position: str, move: str, rules: set[Undo]) -> None:
    plays = {rule: Play(board(game, position), rule).act(move).masked() for rule in Undo}
    assert {rule for rule, play in plays.items() if is_stuck_for_good(play, from_deal=True)} == rules


def test_player_is_not_stuck_if_unknown_moves_can_be_undone() -> None:
    up = {rule: Play(board("willow", ONE_CARD_UP), rule).act("1 0") for rule in Undo}
    revealed = {rule: Play(board("athena", ACE_ON_A_HIDDEN_CARD), rule).act("1 0").masked() for rule in Undo}
    assert {rule for rule, play in up.items() if is_stuck_for_good(play, from_deal=False)} == {Undo.OFF}
    assert {rule for rule, play in revealed.items() if is_stuck_for_good(play, from_deal=False)} == {
        Undo.OFF,
        Undo.NO_REVEAL,
    }


@given(reachable())
def test_random_play_from_a_dead_end_finds_nothing(now: Board) -> None:
    if not is_dead_end(now.masked()):
        return
    rng, up = Random(1), now.foundation_cards
    for _ in range(60):
        moves = now.legal_moves()
        if not moves:
            return
        move = rng.choice(moves)
        assert not now.turns_up(move)
        now = now.play(move).board
        assert now.foundation_cards <= up

"""The proof of a dead end. It never holds while a card can be turned up or go to a foundation."""

from __future__ import annotations

from random import Random

from hypothesis import given

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.laws.stuck import is_dead_end, is_stuck_for_good
from tests.client.boards import board, reachable
from tests.golden.golden_files import assert_answers


def stuck_for_good(game: str, text: str) -> str:
    """The rules for undo under which a player is stuck after a move, and those if the client missed the deal."""
    position, _, move = text.partition("; then ")
    plays = {rule: Play(board(game, position), rule).act(move).masked() for rule in Undo}
    found = [
        ", ".join(rule.value for rule, play in plays.items() if is_stuck_for_good(play, from_deal=seen)) or "none"
        for seen in (True, False)
    ]
    return "; ".join(found)


def proven(_: str, question: str) -> str:
    game, _, text = question.partition(" @ ")
    if "; then " in text:
        return stuck_for_good(game, text)
    assert is_dead_end(board(game, text)) == is_dead_end(board(game, text).masked())
    return "a dead end" if is_dead_end(board(game, text)) else "not proven"


def test_dead_ends_are_proven_as_the_page_says() -> None:
    assert_answers("dead_ends", proven)


def test_long_proof_is_given_up() -> None:
    now = board("phoenix", "1: KH JS TH | 2: KC JC | 3: KD 5C | 4: KS 5S | 5: QD 5D | 6: QH 5H")
    assert is_dead_end(now)
    assert not is_dead_end(now, 1)


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

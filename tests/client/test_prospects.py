"""Whether it is proven that nothing helps: never where a card can still go up or turn up."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from samedeal.board import Board
from samedeal_client.rooms.prospects import hopeless
from tests.client.boards import board, reachable
from tests.client.hands import won


@pytest.mark.parametrize(
    ("game", "position"),
    [
        # a run to and fro between two columns, and nothing else
        ("phoenix", "1: KH JS TH | 2: KC JC | 3: KD 5C | 4: KS 5S | 5: QD 5D | 6: QH 5H"),
        # nothing at all
        ("willow", "1: 9H | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S"),
        # a king that goes to and fro between empty columns, under another one
        ("willow", "1: KH | 2: KD 2H KC"),
        # drawing and turning over bring nothing that fits; the card in between goes to and fro
        ("athena", "1: 8D | 2: 8H 7C | 3: KS | 4: KC | 5: 2S 4S | 6: 2C 4C | 7: QS | w: 2H 2D TS"),
        # what was put up can be taken down again, and no more than that
        ("steve", "1: KC | 2: KD | 3: KH | 4: KS | 5: KC | 6: KD | 7: KH | 8: 3D | 01: AC 2C"),
    ],
)
def test_nothing_helps(game: str, position: str) -> None:
    assert hopeless(board(game, position))


@pytest.mark.parametrize(
    ("game", "position"),
    [
        ("willow", "1: 9H AH | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S"),
        # two moves away
        ("willow", "1: 9H AH 8C | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S"),
        # a card that nobody has seen
        ("athena", "1: 8D | 2: [8H] 7C | 3: KS | 4: KC | 5: 2S | 6: 2C | 7: QS"),
        ("athena", "1: 8D | 2: 6H | 3: KS | 4: KC | 5: 2S | 6: 2C | 7: QS | stock: (AH)"),
        ("ace-of-hearts", "1: KH 2S | 2: KD 4C | stock: (AH)"),
    ],
)
def test_something_may_help(game: str, position: str) -> None:
    assert not hopeless(board(game, position).masked())


def test_what_takes_too_long_to_prove_is_not_said() -> None:
    now = board("phoenix", "1: KH JS TH | 2: KC JC | 3: KD 5C | 4: KS 5S | 5: QD 5D | 6: QH 5H")
    assert hopeless(now)
    assert not hopeless(now, 1)


def test_a_board_that_is_won_is_not_hopeless() -> None:
    assert not hopeless(won("willow").replay().board)


@given(reachable())
def test_who_is_told_that_nothing_helps_finds_nothing_at_random_either(now: Board) -> None:
    if not hopeless(now.masked()):
        return
    rng, up = Random(1), now.cards_up
    for _ in range(60):
        moves = now.legal_moves()
        if not moves:
            return
        move = rng.choice(moves)
        assert not now.turns_up(move)
        now = now.play(move).board
        assert now.cards_up <= up

"""The rules compared with a second, plain implementation of the games."""

from __future__ import annotations

import pytest
from hypothesis import given

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.deal import Deal, shuffled
from samedeal.games import game_named
from samedeal.moves import Move
from tests.shared import oracle
from tests.shared.playouts import boards, playout
from tests.shared.positions import words

pytestmark = pytest.mark.usefixtures("unreleased")


def assert_agrees(board: Board) -> None:
    if board.game.name not in oracle.RULES:
        return
    expected = dict(oracle.moves(board.game.name, words(board)))
    assert sorted(map(str, board.legal_moves())) == sorted(expected)
    for move, after in expected.items():
        assert words(board.play(Move.parse(move)).board) == after, move


def test_dealt_board_agrees_with_oracle() -> None:
    for game in oracle.RULES:
        known = game_named(game)
        for number in range(20):
            deck = shuffled(Deal("number", number=number).public_seed(), known.decks)
            assert words(Board.deal(known, deck)) == oracle.dealt(game, [str(Card(card)) for card in deck])


def test_playout_agrees_with_oracle() -> None:
    for game in oracle.RULES:
        for board, _ in playout(game_named(game), 1, 120):
            assert_agrees(board)


@given(boards())
def test_any_board_agrees_with_oracle(board: Board) -> None:
    assert_agrees(board)

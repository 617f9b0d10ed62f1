"""The laws of play: safe cards, being stuck, and hints. Searches judge them, and the page reads the same laws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from samedeal.board import Board
from samedeal.game import Game
from samedeal.games import GAMES, game_named
from samedeal.laws.hints import DEAL_FIRST, GUESS, Hint, hint
from samedeal.laws.safe_cards import safe_move
from samedeal.laws.stuck import is_dead_end
from samedeal.moves import DEAL, FOUNDATION
from samedeal.solver.solve import Outcome, solve
from tests.client.boards import dealt, playout, with_other_hidden_cards
from tests.golden.golden_files import assert_answers
from tests.shared.javascript import answer_of_page, needs_node
from tests.shared.late_boards import exhaustive_search, late_board
from tests.shared.playouts import won_record
from tests.shared.positions import position

DEALS: Final = int(os.environ.get("DEALS", "40"))
"""Number of boards of each game, of which those with a safe card are searched. ``DEALS=200`` takes half an hour."""

EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=str)


def collected(board: Board) -> Iterator[Board]:
    """The boards after each safe move, one after another."""
    while move := safe_move(board):
        board = board.play(move).board
        yield board


def test_safe_moves_are_as_the_page_says() -> None:
    assert_answers("safe_moves", lambda game, text: str(safe_move(position(game, text).board)))


@pytest.mark.parametrize(
    ("game", "left", "seed", "move"),
    [("yukon", 9, 2256, "1 0"), ("ace-of-hearts", 15, 2778, "7 0"), ("athena", 13, 2796, "4 0")],
)
def test_move_that_loses_is_not_safe(game: str, left: int, seed: int, move: str) -> None:
    board = late_board(game_named(game), left, seed)
    assert exhaustive_search(board, 300)
    assert exhaustive_search(board.play(move).board, 300) is False
    assert all(exhaustive_search(after, 300) for after in collected(board))


@EVERY_GAME
def test_safe_moves_keep_a_board_winnable(game: Game) -> None:
    """A search by the rules alone is the judge."""
    for seed in range(DEALS):
        board = late_board(game, 4 + seed % 12, seed)
        if safe_move(board) and exhaustive_search(board, 300):
            assert all(exhaustive_search(after, 600) is not False for after in collected(board)), seed


@EVERY_GAME
def test_stuck_board_cannot_be_won(game: Game) -> None:
    for seed in range(40):
        board = late_board(game, 4 + seed % 20, seed)
        if is_dead_end(board, 300):
            assert solve(board, 300).outcome is not Outcome.WON
            assert safe_move(board) is None


@pytest.mark.parametrize("game", ["phoenix", "willow", "freecell", "seahaven-towers"])
def test_following_hints_wins_what_can_be_won(game: str) -> None:
    board = won_record(game).first_play.board
    for move in hint(board.masked()).moves:
        board = board.play(move).board
    assert board.won


def test_hint_on_a_lost_board_says_so() -> None:
    assert hint(dealt("phoenix", 240).masked()).is_lost
    assert not hint(dealt("athena", 7).masked(), 300).is_lost


@pytest.mark.parametrize(("game", "number", "moves"), [("athena", 8, 30), ("willow", 10, 5), ("phoenix", 15, 15)])
def test_safe_move_comes_first_if_no_win_is_found(game: str, number: int, moves: int) -> None:
    now = playout(game_named(game), number, moves).masked()
    assert hint(now, 1) == Hint((safe_move(now),), is_lost=False)  # type: ignore[arg-type]  # it is no None
    assert hint(now, 1).moves[0].target == FOUNDATION


def test_hint_to_deal_says_why() -> None:
    """On a board without hidden cards, other moves need no reason."""
    assert hint(dealt("ace-of-hearts", 3).masked()) == Hint((DEAL,), reason=DEAL_FIRST)
    assert not hint(dealt("willow", 3).masked(), 300).reason


def test_hint_does_not_depend_on_hidden_cards() -> None:
    board = dealt("athena", 7)
    told = hint(board.masked(), 300)
    assert told == hint(with_other_hidden_cards(board).masked(), 300)
    assert told.reason == GUESS


def test_hint_ends_with_the_first_card_that_is_turned_up() -> None:
    board = dealt("klondike", 104).masked()
    *before, last = hint(board).moves
    for move in before:
        assert not board.turns_up(move)
        board = board.play(move).board
    assert board.turns_up(last)


HINT_STATES: Final = int(os.environ.get("HINT_STATES", "60"))
"""Number of states that are searched for a hint. ``HINT_STATES=20000`` is what players get, and takes an hour."""


def boards() -> list[Board]:
    """512 boards, as many of each game, most of them late ones."""
    found = []
    for game in GAMES.values():
        chance = Random(game.name)
        found += [playout(game, chance.randrange(10**6), chance.randrange(150)).masked() for _ in range(11)]
        found += [late_board(game, chance.randint(4, 20), chance.randrange(10**6)).masked() for _ in range(21)]
    return [board for board in found if not board.won]


@needs_node
def test_page_reads_the_same_laws(tmp_path: Path) -> None:
    """Of the proofs that a player is stuck, only those on boards with few cards are short enough for a test."""
    given: list[Any] = []
    expected: list[Any] = []
    for board in boards():
        asks_stuck = board.game.cards - board.foundation_cards < 6
        given.append([board.game.name, [list(pile) for pile in board.piles], asks_stuck, HINT_STATES])
        told = hint(board, HINT_STATES)
        stuck = asks_stuck and is_dead_end(board)
        expected.append([str(safe_move(board)), [str(move) for move in told.moves], told.is_lost, stuck])
    assert any(stuck for *_, stuck in expected)
    assert any(is_lost for *_, is_lost, _ in expected)
    for known, told_by_page, (game, *_) in zip(
        expected, answer_of_page("playing.laws", tmp_path, given), given, strict=True
    ):
        assert told_by_page == known, game

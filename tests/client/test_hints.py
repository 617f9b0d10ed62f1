"""Hints to the player."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random

import pytest

from samedeal.board import Board
from samedeal.games import game_named
from samedeal.moves import DEAL, FOUNDATION, Move
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.input.controller import RaceController
from samedeal_client.line_by_line.line_parser import parse_line
from samedeal_client.panels.race import hint_text
from samedeal_client.text.appearance import Look
from samedeal_link.solving.hints import DEAL_FIRST, GUESS, Hint, HintFinder, next_hint
from samedeal_link.solving.solver_process import Hints, SolverProcess
from samedeal_link.solving.strategy import BotMemory, choose_move
from tests.client.boards import board, dealt, playout
from tests.shared.playouts import FAMILIES, won_record


@pytest.mark.parametrize("budget", [1, 3_000])
@pytest.mark.parametrize("game", ["willow", "phoenix", "athena"])
def test_same_board_gives_the_same_hint(game: str, budget: int) -> None:
    now, finder = dealt(game, 3), HintFinder(Random(1), 300, budget)
    for _ in range(5):
        move = finder.suggest(now.masked()).move
        assert move is not None
        assert move == finder.suggest(now.masked()).move
        now = now.play(move).board


@pytest.mark.parametrize("game", FAMILIES)
def test_keys_and_line_of_a_hint_make_its_move(game: str) -> None:
    """Following hints in this way never goes round in a circle."""
    now, finder = dealt(game, 5), HintFinder(Random(1), 100, 300)
    passed: Counter[Board] = Counter()
    while (move := finder.suggest(now.masked()).move) is not None and passed.total() < 60:
        seen = now.masked()
        passed[seen] += 1
        assert passed[seen] <= 6
        assert parse_line(seen, str(move)) == move
        if move.is_transfer:
            keys = hint_text(seen, move, DEFAULT, Look()).partition(":")[0].removeprefix("Type ").split()
            selected = RaceController().hinted(seen, move).press(keys[0], seen, 0.0)
            assert selected.controller.press(keys[1], seen, 0.0).action == move
        now = now.play(move).board
    assert passed.total() > 9


def test_new_progress_gives_hints_again() -> None:
    finder = HintFinder(Random(1))
    for text in ("1: 9H | 2: 9D", "1: 9H | 2: 9D | 3: 9C", "1: 7H | 2: 9D"):
        for _ in range(9):
            finder.suggest(board("willow", text))
    assert finder.suggest(board("willow", "1: 9H AC | 2: 9D")).move == Move("1", "0", 1)


def test_following_hints_wins_what_can_be_won() -> None:
    play, finder = won_record("phoenix").first_play, HintFinder(Random(1))
    now = play.board
    while (move := finder.suggest(now.masked()).move) is not None:
        now = now.play(move).board
    assert now.won


@pytest.mark.parametrize(("game", "number", "moves"), [("athena", 8, 30), ("willow", 10, 5), ("phoenix", 15, 15)])
def test_safe_move_to_a_foundation_comes_first(game: str, number: int, moves: int) -> None:
    """The careful bot would first make another move."""
    now = playout(game_named(game), number, moves).masked()
    move = HintFinder(Random(1), 300, 1).suggest(now).move
    assert move is not None
    assert move.target == FOUNDATION


def test_hint_to_deal_says_why() -> None:
    """On a board without hidden cards, other moves need no reason."""
    finder = HintFinder(Random(1), 300)
    assert finder.suggest(dealt("ace-of-hearts", 3).masked()) == Hint(DEAL, reason=DEAL_FIRST)
    assert not finder.suggest(dealt("willow", 3).masked()).reason


def test_hint_does_not_depend_on_hidden_cards() -> None:
    """The hint is the same whatever the hidden cards are. It is called a guess unless its move is safe."""
    finder = HintFinder(Random(1), 300)
    hint = finder.suggest(dealt("athena", 7).masked())
    assert hint == Hint(choose_move("careful", dealt("athena", 7).masked(), BotMemory(Random(1), 300)), reason=GUESS)
    assert not finder.suggest(dealt("athena", 3).masked()).reason


def test_finder_goes_on_in_the_next_process() -> None:
    """Otherwise hints would never come to an end."""
    now, finder = dealt("phoenix", 7), HintFinder(Random(1), 300, 1)
    kept = pickle.dumps(finder)
    while True:
        hint = finder.suggest(now.masked())
        again, kept = next_hint(now.masked(), kept)
        assert again == hint
        if hint.move is None:
            break
        now = now.play(hint.move).board


async def test_hint_comes_from_a_process() -> None:
    lost = dealt("phoenix", 240).masked()
    hint = await Hints().suggest(lost)
    assert hint == HintFinder(Random(1)).suggest(lost)
    assert hint.is_lost


async def test_hints_hand_the_finder_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bytes] = []

    async def hint(_: SolverProcess, __: Board, finder: bytes) -> tuple[Hint, bytes]:
        given.append(finder)
        return Hint(None), finder + b"x"

    monkeypatch.setattr(SolverProcess, "hint", hint)
    hints = Hints()
    for _ in range(3):
        await hints.suggest(dealt("willow", 3))
    assert given == [b"", b"x", b"xx"]

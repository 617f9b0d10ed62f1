"""Invariant: hidden stays hidden, as one property of the whole server. Its output does not depend on unseen cards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any

import pytest

from samedeal.board import Board
from samedeal.deal import Deal
from samedeal.errors import PlayError
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal_server.rooms import room_creation
from tests.simulation.noninterference import CASES, compare, first_deck, hidden_places, other_deck

STEPS = 30
SOME_CASES = {game: dealt for game, dealt in CASES if game.name in ("athena", "spider", "willow")}
"""A game with a waste, one with two decks whose stock is dealt in rows, and one without face-down cards.

``make worlds`` has all games: the server knows none of them, and ``test_invariants`` has the same law for their rules.
"""


@pytest.mark.parametrize(("game", "dealt"), SOME_CASES.items(), ids=str)
def test_hidden_cards_change_nothing_that_is_sent(game: Game, dealt: bool) -> None:
    assert compare(game, "suite", STEPS, dealt=dealt) == ""


def test_search_for_a_joint_deal_changes_nothing_that_is_sent() -> None:
    assert compare(GAMES["willow"], "joint", STEPS // 2, dealt=False, joint=True) == ""


@pytest.mark.parametrize("game", [game for game, dealt in CASES if dealt], ids=str)
def test_hidden_cards_change_no_executed_instruction(game: Game) -> None:
    """This bounds the difference in time: the rules do the same for a move or a refusal, whatever is hidden."""
    deck = first_deck(game, 7)
    one = Board.deal(game, deck.cards)
    other = Board.deal(game, other_deck(game, deck, hidden_places(one.masked())).cards)
    assert one != other
    rng = Random(7)
    keys = [*game.keys, "0"]
    for _ in range(12):
        for move in [Move(rng.choice(keys), rng.choice(keys), rng.randint(1, 6)) for _ in range(5)]:
            assert instructions(outcome, one, move) == instructions(outcome, other, move)
        assert instructions(told, one) == instructions(told, other)
        quiet = [move for move in one.legal_moves() if not one.turns_up(move)]
        if not quiet:
            break
        move = rng.choice(quiet)
        one, other = one.play(move).board, other.play(move).board


def outcome(board: Board, move: Move) -> object:
    try:
        return board.play(move)
    except PlayError as error:
        return str(error)


def told(board: Board) -> object:
    return list(board.legal_moves()), board.stuck, board.state_hash(), board.masked(), board.foundation_cards


def instructions(work: Callable[..., object], *given: object) -> list[tuple[str, int]]:
    """Return the bytecode of the core that some work executes the third time.

    The first time may fill caches. In the second time Python 3.12 may report only some instructions.
    """
    work(*given)
    _traced(work, *given)
    return _traced(work, *given)


def _traced(work: Callable[..., object], *given: object) -> list[tuple[str, int]]:
    executed: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_globals.get("__name__", "").startswith("samedeal."):
            return None  # functions that the garbage collector calls in between
        frame.f_trace_opcodes = True
        executed.append((frame.f_code.co_qualname, frame.f_lasti))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work(*given)
    finally:
        sys.settrace(before)
    return executed


def test_seeds_are_random_in_every_bit() -> None:
    """Finding the cards from the commitment, which ``test_deal`` compares with vectors, means guessing 256 bits."""
    seeds = [room_creation.new_seed(Deal.parse("random")) for _ in range(64)]
    assert {len(seed) for seed in seeds} == {32}
    assert len(set(seeds)) == len(seeds)
    ones = [sum(seed[bit // 8] >> bit % 8 & 1 for seed in seeds) for bit in range(256)]
    assert min(ones) > 0
    assert max(ones) < len(seeds)

"""The moves that bots choose at each level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.games import GAMES
from samedeal.laws.stuck import key_of
from samedeal.moves import DRAW, Move
from samedeal_link.solving.bot_levels import Level
from samedeal_link.solving.strategy import CAREFUL_NODES, BotMemory, choose_move
from samedeal_link.solving.temperament import Temperament
from tests.client.boards import board, dealt
from tests.shared.playouts import COVERING

NODE_BUDGET = 200
MAX_MOVES = 120


def play_on(now: Board, level: Level, memory: BotMemory, most: int = MAX_MOVES) -> Iterator[tuple[Board, Move]]:
    """The boards from here, each with the move that a bot makes on it."""
    for _ in range(most):
        move = choose_move(level, now.masked(), memory)
        if move is None:
            return
        yield now, move
        now = now.play(move).board


def race(game: str, number: int, level: Level, node_budget: int = NODE_BUDGET) -> Iterator[tuple[Board, Move]]:
    return play_on(dealt(game, number), level, BotMemory(Random(number), node_budget))


def foundation_cards(game: str, level: Level) -> int:
    """Race in a game, and return the number of cards that get to the foundations.

    All moves are legal. A board may come up again on the way to a new one, but not more often.
    A random bot never returns to one, but may always turn up a card, because the board after it is new.
    """
    at_random = level == "random"
    boards: Counter[object] = Counter()
    for now, move in race(game, 4, level):
        assert move in now.masked().legal_moves()
        boards[key_of(now.masked() if at_random else now)] += 1
    assert max(boards.values()) <= (1 if at_random else 5)
    assert at_random or boards.total() < MAX_MOVES
    return now.play(move).board.foundation_cards


def test_each_level_beats_the_one_below() -> None:
    """How often they win is measured by ``make levels``."""
    random, greedy, careful = [
        sum(foundation_cards(game, level) for game in COVERING) for level in ("random", "greedy", "careful")
    ]
    assert 1.2 * random < greedy < careful / 1.3


SEEN = [
    name for name, game in GAMES.items() if game.file.demo and HIDDEN not in b"".join(dealt(name, 1).masked().piles)
]
"""Games in which a bot sees all cards, and with a deal that can be won."""


@pytest.mark.parametrize("game", SEEN)
def test_careful_wins_where_it_sees_all_cards(game: str) -> None:
    """The solver finds a line."""
    *_, (now, move) = race(game, GAMES[game].file.demo, "careful", CAREFUL_NODES)
    assert now.play(move).board.won


@pytest.mark.parametrize("level", ["greedy", "careful"])
def test_no_move_is_chosen_if_none_helps(level: Level) -> None:
    memory = BotMemory(Random(1))
    now = board("willow", "1: 9H | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S")
    assert [choose_move(level, now, memory) for _ in range(3)] == [None] * 3


def test_careful_draws_until_a_card_helps() -> None:
    now = board("athena", "1: 9H | 2: TC | 3: 5S | 4: 7C | 5: QH | 6: 3S | 7: 4C | 01: AC | stock: (2C) (4D) (4H)")
    boards, moves = zip(*play_on(now, "careful", BotMemory(Random(1)), 9), strict=True)
    assert DRAW in moves
    assert boards[-1].play(moves[-1]).board.piles[now.game.index["01"]][-1:] == bytes([2])


def test_bots_of_a_level_differ_by_temperament() -> None:
    def moves_of(number: int) -> list[str]:
        rng = Random(number)
        memory = BotMemory(rng, 300, Temperament.random(rng))
        return [str(move) for _, move in play_on(dealt("willow", 4), "careful", memory, 25)]

    assert len({tuple(moves_of(number)) for number in range(4)}) == 4
    assert moves_of(1) == moves_of(1)

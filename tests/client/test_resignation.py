"""The conditions under which bots resign."""

from __future__ import annotations

from random import Random

import pytest

from samedeal.board import Board
from samedeal.games import GAMES
from samedeal_client.bots.resignation import MAX_MOVES_WITHOUT_GAIN, ResignPolicy
from samedeal_client.bots.strategy import BotMemory, choose_move
from samedeal_client.state.bot_levels import Level
from tests.client.boards import board, dealt


def play_to_end(level: Level, now: Board, most: int) -> tuple[Board, int]:
    """Play a race. Return its last board and the number of moves; fail if there are more than ``most``."""
    memory, policy = BotMemory(Random(1)), ResignPolicy(level)
    for moves_made in range(most):
        seen = now.masked()
        if now.won or policy.should_resign(seen) or (move := choose_move(level, seen, memory)) is None:
            return now, moves_made
        now = now.play(move).board
    pytest.fail("the bot neither resigned nor won")


@pytest.mark.parametrize(
    ("game", "position"),
    [
        ("athena", "1: 9H | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S | w: 2C 3C 4D"),
        ("ace-of-hearts", "1: KH 2S | 2: KD 4C | 3: QS KC | 4: 4D JH | 5: KS | 6: 6S | 7: 8S"),
        ("phoenix", "1: KH TC 9H | 2: JD | 3: TS | 4: KD 3S | 5: KC 4S | 6: KS 5C"),
    ],
)
def test_random_resigns_soon_at_a_dead_end(game: str, position: str) -> None:
    _, made = play_to_end("random", board(game, position), 100)
    assert made <= 20


def test_bot_resigns_after_many_moves_without_gain() -> None:
    now, policy = board("willow", "1: KS 2H AH | 2: KH | 3: QC"), ResignPolicy("greedy")
    assert [policy.should_resign(now) for _ in range(MAX_MOVES_WITHOUT_GAIN["greedy"] + 2)] == [False] * (
        MAX_MOVES_WITHOUT_GAIN["greedy"] + 1
    ) + [True]


def test_gain_resets_the_count_of_moves() -> None:
    policy = ResignPolicy("greedy")
    before, after = (board("willow", text) for text in ("1: KS 2H AH | 2: KH", "1: KS 2H | 2: KH | 03: AH"))
    assert not any(policy.should_resign(before) for _ in range(MAX_MOVES_WITHOUT_GAIN["greedy"]))
    assert not any(policy.should_resign(after) for _ in range(MAX_MOVES_WITHOUT_GAIN["greedy"]))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("level", ["random", "greedy"])
def test_every_race_ends(game: str, level: Level) -> None:
    for number in range(1, 6):
        play_to_end(level, dealt(game, number), 1_500)

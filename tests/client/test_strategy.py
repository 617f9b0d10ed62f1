"""Bots: what they see, that they make only legal moves, come to an end, and are as good as their level says."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import pytest

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES, Game
from samedeal.moves import DEAL, DRAW, Move
from samedeal_client.bots.patience import FRUITLESS, Patience
from samedeal_client.bots.strategy import LEVELS, Level, Memory, choose, hint
from samedeal_client.rooms.prospects import key_of
from tests.client.boards import board

DEALS = {"athena": 20, "steve": 5, "phoenix": 20, "ace-of-hearts": 20, "willow": 20}
"""How many numbered deals each game is judged by, from the first on."""

LOOKS = 1500
MOST = 300


def dealt(game: str, number: int) -> Board:
    kind = Game.named(game)
    return Board.deal(kind, shuffled(Deal.parse(f"#{number}").public_seed(), kind.decks))


def race(game: str, number: int, level: Level, looks: int = LOOKS) -> Iterator[tuple[Board, Move]]:
    """The boards of a bot's race, each with the move that it makes there."""
    now, memory = dealt(game, number), Memory(Random(number), looks)
    for _ in range(MOST):
        move = choose(level, now.masked(), memory)
        if move is None:
            return
        yield now, move
        now = now.play(move).board


@dataclass(frozen=True)
class Result:
    up: int
    won: int
    moves: int
    seconds: float


@lru_cache
def result(game: str, level: Level) -> Result:
    """What a level comes to over the fixed deals."""
    up = won = moves = 0
    began = time.process_time()
    for number in range(1, DEALS[game] + 1):
        end = dealt(game, number)
        for now, move in race(game, number, level):
            end = now.play(move).board
            moves += 1
        up += end.cards_up
        won += end.won
    return Result(up, won, moves, time.process_time() - began)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("better", "worse"), [("greedy", "random"), ("careful", "greedy")])
def test_each_level_clearly_beats_the_one_below(game: str, better: Level, worse: Level) -> None:
    assert result(game, better).up > 1.25 * result(game, worse).up


@pytest.mark.parametrize(
    ("game", "least"), [("willow", 8), ("athena", 4), ("steve", 3), ("ace-of-hearts", 15), ("phoenix", 2)]
)
def test_careful_wins_a_fair_share(game: str, least: int) -> None:
    assert result(game, "careful").won >= least


@pytest.mark.parametrize("game", GAMES)
def test_a_decision_takes_a_few_milliseconds(game: str) -> None:
    careful = result(game, "careful")
    assert careful.seconds / careful.moves < 0.03


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_every_move_is_legal_on_the_board_that_the_player_sees(game: str, level: Level) -> None:
    for now, move in race(game, 77, level, 200):
        assert move in now.masked().legal_moves()


@pytest.mark.parametrize("game", ["athena", "steve", "ace-of-hearts"])
@pytest.mark.parametrize("level", LEVELS)
def test_cards_that_are_not_seen_change_nothing(game: str, level: Level) -> None:
    """On two deals that look the same the same is done, for as long as they look the same."""
    first = dealt(game, 5)
    hidden = [
        (at, depth) for at, pile in enumerate(first.masked().piles) for depth, code in enumerate(pile) if code == HIDDEN
    ]
    codes = [first.piles[at][depth] for at, depth in hidden]
    piles = [bytearray(pile) for pile in first.piles]
    for (at, depth), code in zip(hidden, reversed(codes), strict=True):
        piles[at][depth] = code
    second = Board(first.game, tuple(bytes(pile) for pile in piles))
    memories = [Memory(Random(3), 200), Memory(Random(3), 200)]
    while first.masked() == second.masked():
        moves = [choose(level, now.masked(), memory) for now, memory in zip((first, second), memories, strict=True)]
        assert moves[0] == moves[1]
        if moves[0] is None or moves[1] is None:
            break
        first, second = first.play(moves[0]).board, second.play(moves[1]).board


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("level", ["greedy", "careful"])
def test_nobody_goes_round_in_circles(game: str, level: Level) -> None:
    """A board may be passed again on the way to a new one, no more."""
    boards = Counter(key_of(now) for now, _ in race(game, 12, level, 300))
    assert max(boards.values()) <= 4
    assert boards.total() < MOST


@pytest.mark.parametrize("level", ["greedy", "careful"])
def test_where_nothing_helps_it_stops_and_stays_stopped(level: Level) -> None:
    memory = Memory(Random(1))
    now = board("willow", "1: 9H | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S")
    assert [choose(level, now, memory) for _ in range(3)] == [None] * 3


def plays_until(level: Level, now: Board, most: int) -> tuple[Board, int]:
    """The board on which a bot gives up or has won, and the moves it made; no more than so many."""
    memory, patience = Memory(Random(1)), Patience(level)
    for made in range(most):
        seen = now.masked()
        if now.won or patience.ends(seen) or (move := choose(level, seen, memory)) is None:
            return now, made
        now = now.play(move).board
    pytest.fail("it plays on for ever")


@pytest.mark.parametrize(
    ("game", "position"),
    [
        ("athena", "1: 9H | 2: 9D | 3: 9S | 4: 9C | 5: 7H | 6: 7D | 7: 7S | w: 2C 3C 4D"),
        ("ace-of-hearts", "1: KH 2S | 2: KD 4C | 3: QS KC | 4: 4D JH | 5: KS | 6: 6S | 7: 8S"),
        ("phoenix", "1: KH TC 9H | 2: JD | 3: TS | 4: KD 3S | 5: KC 4S | 6: KS 5C"),
    ],
)
def test_even_random_gives_up_soon_where_nothing_helps(game: str, position: str) -> None:
    _, made = plays_until("random", board(game, position), 100)
    assert made <= 20


def test_where_something_helps_a_bot_gives_up_only_after_long() -> None:
    now, patience = board("willow", "1: KS 2H AH | 2: KH | 3: QC"), Patience("greedy")
    assert [patience.ends(now) for _ in range(FRUITLESS["greedy"] + 2)] == [False] * (FRUITLESS["greedy"] + 1) + [True]


def test_a_gain_makes_a_bot_patient_again() -> None:
    patience = Patience("greedy")
    before, after = (board("willow", text) for text in ("1: KS 2H AH | 2: KH", "1: KS 2H | 2: KH | 03: AH"))
    assert not any(patience.ends(before) for _ in range(FRUITLESS["greedy"]))
    assert not any(patience.ends(after) for _ in range(FRUITLESS["greedy"]))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("level", ["random", "greedy"])
def test_every_race_comes_to_an_end(game: str, level: Level) -> None:
    for number in range(1, 6):
        plays_until(level, dealt(game, number), 1_500)


@pytest.mark.parametrize(
    ("position", "moves"),
    [
        ("1: AC | 2: 9H | 3: 2C", ["1 0", "3 0"]),
        ("1: 5H AC | 2: 9H 2C | 3: KS 3C | 4: KD | 5: QS", ["1 0", "2 0", "3 0"]),
    ],
)
def test_careful_puts_up_what_goes_up(position: str, moves: list[str]) -> None:
    now, memory = board("willow", position), Memory(Random(1))
    made: list[str] = []
    while (move := choose("careful", now, memory)) is not None and len(made) < 9:
        made.append(str(move))
        now = now.play(move).board
    assert set(moves) <= set(made)


def test_careful_draws_through_to_the_card_that_helps() -> None:
    now = board("athena", "1: 9H | 2: TC | 3: 5S | 4: 7C | 5: QH | 6: 3S | 7: 4C | 01: AC | stock: (2C) (4D) (4H)")
    memory = Memory(Random(1))
    made: list[Move] = []
    while (move := choose("careful", now, memory)) is not None and len(made) < 9:
        made.append(move)
        now = now.play(move).board
    assert DRAW in made
    assert now.piles[now.game.index["01"]][-1:] == bytes([2])


@pytest.mark.parametrize("game", ["willow", "phoenix", "athena"])
def test_a_hint_is_the_same_on_the_same_board(game: str) -> None:
    now, memory = dealt(game, 3), Memory(Random(1), 300)
    for _ in range(5):
        move = hint(now.masked(), memory)
        assert move is not None
        assert move == hint(now.masked(), memory)
        now = now.play(move).board


@pytest.mark.parametrize(("game", "number"), [("phoenix", 7), ("athena", 7), ("willow", 5)])
def test_hints_never_go_to_and_fro_for_ever(game: str, number: int) -> None:
    now, memory = dealt(game, number), Memory(Random(1), 300)
    passed: Counter[Board] = Counter()
    while (move := hint(now.masked(), memory)) is not None and passed.total() < 300:
        passed[now.masked()] += 1
        now = now.play(move).board
    assert passed.total() < 300
    assert max(passed.values()) <= 6


def test_who_has_asked_often_is_told_more_once_there_is_something() -> None:
    memory = Memory(Random(1))
    for text in ("1: 9H | 2: 9D", "1: 9H | 2: 9D | 3: 9C", "1: 7H | 2: 9D"):
        for _ in range(9):
            hint(board("willow", text), memory)
    assert hint(board("willow", "1: 9H AC | 2: 9D"), memory) == Move("1", "0", 1)


def test_in_ace_of_hearts_the_cards_are_dealt_first() -> None:
    moves = [move for _, move in race("ace-of-hearts", 4, "careful", 200)]
    assert moves[:4] == [DEAL] * 4


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_seed_plays_the_same_race(level: Level) -> None:
    first = [move for _, move in race("willow", 3, level, 200)]
    assert first == [move for _, move in race("willow", 3, level, 200)]

"""Boards reached by play: random playouts from numbered deals, and Hypothesis strategies for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import accumulate

from hypothesis import settings
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal.record import Record
from tests.golden.golden_files import HERE


def numbered(game: Game, number: int) -> Board:
    """The board of a numbered deal."""
    return Board.deal(game, shuffled(Deal("number", number=number).public_seed(), game.decks))


def some_move(board: Board, chance: random.Random) -> Move | None:
    """A legal move, mostly a helpful one, so that playouts reach far into a game."""
    legal = board.legal_moves()
    if not legal:
        return None
    if chance.random() < 0.7:
        useful = [move for move in legal if not board.is_null(move) and not board.is_worry_back(move)]
        return chance.choice(useful or legal)
    return chance.choice(legal)


def playout(game: Game, number: int, length: int) -> Iterator[tuple[Board, Move]]:
    """Boards and the moves made on them, from a numbered deal until no move is left."""
    chance = random.Random(f"{game} {number}")
    board = numbered(game, number)
    for _ in range(length):
        move = some_move(board, chance)
        if move is None:
            return
        yield board, move
        board = board.play(move).board


for_many_boards = settings(max_examples=60)
"""Settings for tests that try many moves on each board: fewer boards than usual."""

FAMILIES = [name for name, game in GAMES.items() if not game.file.variant_of]
"""The games without their variants, for long golden files."""

games = st.sampled_from(list(GAMES.values()))


@cache
def won_play(game: Game) -> tuple[Play, ...]:
    """The plays along a winning record."""
    record = Record.parse((HERE / "records" / f"{game}.txt").read_text())
    return tuple(accumulate((move for _, move in record.actions), Play.act, initial=record.start()))


@st.composite
def plays(draw: st.DrawFn, rule: Undo = Undo.FREE) -> Play:
    """A play of some actions and undos, from a deal or from a point in a winning play."""
    game = draw(games)
    chance = random.Random(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        play = Play(numbered(game, draw(st.integers(0, 9999))), rule)
        length = draw(st.integers(0, 150))
    else:
        won = won_play(game)
        play = replace(won[draw(st.integers(0, len(won) - 1))], undo_rule=rule)
        length = draw(st.integers(0, 10))
    for _ in range(length):
        if chance.random() < 0.15 and play.why_no_undo is None:
            play = play.act(UNDO)
            continue
        move = some_move(play.board, chance)
        if move is None:
            break
        play = play.act(move)
    return play


def boards() -> st.SearchStrategy[Board]:
    """A board that a play leads to."""
    return plays().map(lambda play: play.board)

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
from samedeal.difficulty import SEARCH_BUDGET
from samedeal.game import Game
from samedeal.games import GAMES, game_named
from samedeal.moves import Move
from samedeal.record import Record
from samedeal.solver.solve import solve
from tests.golden.golden_files import golden_text
from tests.shared.recorded import recorded


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


for_many_boards = settings(max_examples=40)
"""Settings for tests that try many moves on each board: fewer boards than usual."""

TABLES = {
    (game.decks, *((group.kind, group.faces) for group in game.groups)): game for game in list(GAMES.values())[::-1]
}
FAMILIES = [name for name, game in GAMES.items() if game in TABLES.values()]
"""The first of the games with the same kinds of piles, for long golden files."""


def _policies(game: Game) -> set[str]:
    """What the file of a game says about the number of cards, and about what each kind of pile takes and gives."""
    of_cards = {f"{name} {game.rules[name]}" for name in ("decks", "suits", "stock")}
    return of_cards | {
        pile[name] for pile in game.rules["piles"] for name in ("kind", "faces", "build", "empty", "lift")
    }


def _covering() -> list[str]:
    left = set[str]().union(*map(_policies, GAMES.values()))
    chosen = []
    while left:
        chosen.append(max(GAMES.values(), key=lambda game: len(_policies(game) & left)))
        left -= _policies(chosen[-1])
    return [game.name for game in chosen]


COVERING = _covering()
"""Few games that together have every policy, for tests that take long with each game."""

games = st.sampled_from(list(GAMES.values()))


def won_record(game: str) -> Record:
    """A record of a won play of a game. That of a new game is the solver's."""
    return Record.parse(golden_text(f"records/{game}.txt", lambda: str(_solved(game_named(game)))))


def _solved(game: Game) -> Record:
    """The first numbered deal that the solver wins, with its moves."""
    assert game.file.wins, f"The solver wins no deal of {game}: give it other weights (table `search`)"
    answers = ((number, solve(numbered(game, number), SEARCH_BUDGET)) for number in range(1, 101))
    number, answer = next((each for each in answers if each[1].line), (0, None))
    assert answer, f"The solver wins none of the first hundred deals of {game}: give it other weights (table `search`)"
    actions = tuple((1500 * at, str(move)) for at, move in enumerate(answer.line, 1))
    return recorded(game.name, f"#{number}", ("solver", actions), undo="off", limit=7200)


@cache
def won_play(game: Game) -> tuple[Play, ...]:
    """The plays along a winning record."""
    record = won_record(game.name)
    return tuple(accumulate((move for _, move in record.actions), Play.act, initial=record.first_play))


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

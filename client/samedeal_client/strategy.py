"""What bots do: three levels, each of which sees only what a player sees (a masked board).

- ``random`` makes any legal move, now and then one that helps.
- ``greedy`` makes the move that looks best right after it: up, turning a card up, putting things together.
- ``careful`` looks ahead as far as its cards are known, keeps to a line that it has found, deals when nothing better is in
  sight, and stops when nothing helps.

None goes round in circles: no level but ``random`` goes back to a board on which it has been.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, get_args

from samedeal.board import Board
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
from samedeal_client.appraisal import WEIGHTS, Appraisal
from samedeal_client.search import Key, key_of, look_ahead, worth_of_reveal

Level = Literal["random", "greedy", "careful"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)

LOOKS: Final = 4000
"""Boards that the careful level looks at before it makes up its mind, some 50 ms of it; a line is several moves."""

_DETOURS: Final = 6
"""Lines in a row that gain nothing, after which the careful level stops."""

_RAISED: Final = 3.0
"""What the greedy level adds to a card that goes up."""

_IDLE_DRAWS: Final = 60
"""Draws in a row after which the random level stops: twice through Athena's stock and waste."""


@dataclass
class Memory:
    """What a bot remembers of a race between its moves. ``looks`` is how hard the careful level thinks."""

    rng: Random
    looks: int = LOOKS
    appraisal: Appraisal | None = None
    visited: set[Key] = field(default_factory=set)
    line: list[tuple[Board, Move]] = field(default_factory=list)
    detours: int = 0
    draws: int = 0
    raising: bool = False


def choose(level: Level, board: Board, memory: Memory) -> Move | None:
    """The move of a bot on its board, None when it doesn't want to move any more. ``memory`` is changed."""
    match level:
        case "random":
            return _random(board, memory)
        case "greedy":
            return _greedy(board, memory)
        case "careful":
            return _careful(board, memory)


def _moving(board: Board) -> list[Move]:
    """The legal moves that change something, take-backs from a foundation left out."""
    return [
        move
        for move in board.legal_moves()
        if not (move.is_transfer and (board.is_null(move) or board.is_take_back(move)))
    ]


# ---------------------------------------------------------------- random


def _random(board: Board, memory: Memory) -> Move | None:
    moves = _moving(board)
    if not moves or (moves == [DRAW] and memory.draws >= _IDLE_DRAWS):
        return None
    move = memory.rng.choice(moves)
    memory.draws = memory.draws + 1 if move == DRAW else 0
    return move


# ---------------------------------------------------------------- greedy


def _greedy(board: Board, memory: Memory) -> Move | None:
    appraise = _appraisal(board, memory)
    memory.visited.add(key_of(board))
    best, best_worth = None, 0.0
    for move in _moving(board):
        if not board.turns_up(move):
            after = board.play(move).board
            if key_of(after) in memory.visited:
                continue
            worth = appraise(after) + (_RAISED if move.target == FOUNDATION else 0)
        else:
            worth = worth_of_reveal(board, move, appraise)
        if best is None or worth > best_worth:
            best, best_worth = move, worth
    return best


def _appraisal(board: Board, memory: Memory) -> Appraisal:
    if memory.appraisal is None:
        memory.appraisal = Appraisal(board.game, WEIGHTS[board.game.name].varied(memory.rng))
    return memory.appraisal


# ---------------------------------------------------------------- careful


def _careful(board: Board, memory: Memory) -> Move | None:
    if memory.line and memory.line[0][0] == board:
        return memory.line.pop(0)[1]
    memory.visited.add(key_of(board))
    moves = _line(board, memory, _appraisal(board, memory))
    if not moves:
        return None
    memory.line = []
    here = board
    for move in moves:
        memory.line.append((here, move))
        memory.visited.add(key_of(here))
        if here.turns_up(move):
            break
        here = here.play(move).board
    return memory.line.pop(0)[1]


def _line(board: Board, memory: Memory, appraisal: Appraisal) -> tuple[Move, ...]:
    """The moves to make next; none when nothing helps any more, and what can still go up has gone."""
    if memory.detours > _DETOURS:
        return ()
    best, highest = look_ahead(board, appraisal, memory.visited, memory.looks)
    if best is None:
        return ()
    if best.gain > 0 or best.moves[-1] == DEAL:
        memory.detours = 0
        return best.moves
    memory.detours += 1
    if memory.detours <= _DETOURS:
        return best.moves
    return highest.moves if highest else ()

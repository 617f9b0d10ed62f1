"""What bots do: three levels, each of which sees only what a player sees (a masked board).

- ``random`` makes any legal move.
- ``greedy`` takes the best of what it sees at a glance, some dozen boards.
- ``careful`` looks at thousands before it makes up its mind.

Both of the latter keep to a line of moves once they have found it, until it turns up a card; deal when nothing better is in
sight; go back to a board only on the way to one on which they have not been; and stop when nothing helps. When a bot that
still moves is to give up all the same is ``patience``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, get_args

from samedeal.board import Board
from samedeal.games import Lift, Stock
from samedeal.moves import DEAL, Move
from samedeal_client.bots.appraisal import WEIGHTS, Appraisal
from samedeal_client.bots.search import look_ahead
from samedeal_client.rooms.prospects import Key, key_of

Level = Literal["random", "greedy", "careful"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)

GLANCE: Final = 80
"""Boards that the greedy level looks at before it makes up its mind."""

LOOKS: Final = 4000
"""Boards that the careful level looks at before it makes up its mind, some 50 ms of it; a line is several moves."""

_DETOURS: Final = 6
"""Lines in a row that gain nothing, after which a level that looks ahead stops."""


@dataclass
class Memory:
    """What a bot remembers of a race between its moves, or whoever gives hints: ``told`` is the last one.

    ``looks`` is how hard the careful level thinks.
    """

    rng: Random
    looks: int = LOOKS
    appraisal: Appraisal | None = None
    visited: set[Key] = field(default_factory=set)
    line: list[tuple[Board, Move]] = field(default_factory=list)
    detours: int = 0
    told: tuple[Board, Move | None] | None = None


def choose(level: Level, board: Board, memory: Memory) -> Move | None:
    """The move of a bot on its board, None when it doesn't want to move any more. ``memory`` is changed."""
    match level:
        case "random":
            return _random(board, memory)
        case "greedy":
            return _looking(board, memory, min(GLANCE, memory.looks))
        case "careful":
            return _looking(board, memory, memory.looks)


def hint(board: Board, memory: Memory) -> Move | None:
    """What to tell a player who asks for a hint, None when nothing that helps is in sight. ``memory`` is changed.

    It is what the careful level would do, and the same again on the same board. Who only follows hints is told after some
    that gain nothing that none is in sight; who has gone another way is told more.
    """
    if memory.told is None or memory.told[0] != board:
        if memory.told is None or not _followed(*memory.told, board):
            memory.detours = 0
        memory.told = board, choose("careful", board, memory)
    return memory.told[1]


def _followed(before: Board, move: Move | None, board: Board) -> bool:
    return move is not None and not before.turns_up(move) and before.play(move).board == board


# ---------------------------------------------------------------- random


def _random(board: Board, memory: Memory) -> Move | None:
    moves = board.legal_moves()
    return memory.rng.choice(moves) if moves else None


# ---------------------------------------------------------------- greedy and careful


def _appraisal(board: Board, memory: Memory) -> Appraisal:
    if memory.appraisal is None:
        memory.appraisal = Appraisal(board.game, WEIGHTS[board.game.name].varied(memory.rng))
    return memory.appraisal


def _looking(board: Board, memory: Memory, looks: int) -> Move | None:
    if memory.line and memory.line[0][0] == board:
        return memory.line.pop(0)[1]
    if _deals_first(board):
        return DEAL
    memory.visited.add(key_of(board))
    moves = _line(board, memory, looks)
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


def _deals_first(board: Board) -> bool:
    """Whether a row is to be dealt before anything else: where cards can be taken with all that lies on them.

    There a row that is dealt buries nothing, and knowing the cards is worth more than any move.
    """
    game = board.game
    lifts_any = game.piles[game.columns.start].lift is Lift.ANY
    return lifts_any and game.stock is Stock.DEAL_ROW and bool(board.piles[game.stock_at])


def _line(board: Board, memory: Memory, looks: int) -> tuple[Move, ...]:
    """The moves to make next; none when nothing helps any more, and what can still go up has gone."""
    if memory.detours > _DETOURS:
        return ()
    best, highest = look_ahead(board, _appraisal(board, memory), memory.visited, looks)
    if best is None:
        return ()
    if best.gain > 0 or best.moves[-1] == DEAL:
        memory.detours = 0
        return best.moves
    memory.detours += 1
    if memory.detours <= _DETOURS:
        return best.moves
    return highest.moves if highest else ()

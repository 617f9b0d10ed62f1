"""The choice of a bot's moves. Bots of all levels see a masked board, as a player does.

- ``random`` makes any legal move.
- ``greedy`` searches some dozen boards.
- ``careful`` searches thousands of boards.

The levels greedy and careful follow a line of moves until it turns up a card. They deal if nothing better is in sight,
return to an earlier board only on the way to a new one, and stop if no move helps. ``resignation`` decides when a bot that
could still move resigns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.moves import DEAL, Move
from samedeal_client.bots.evaluation import Evaluation, weights_of
from samedeal_client.bots.search import search
from samedeal_client.state.bot_levels import Level
from samedeal_client.state.dead_end import Key, key_of

GREEDY_NODES: Final = 80
"""Maximum number of boards that a greedy bot searches for a move."""

CAREFUL_NODES: Final = 4000
"""Maximum number of boards that a careful bot searches for a line of moves, which takes about 50 ms."""

_MAX_DETOURS: Final = 6
"""Maximum number of consecutive plans that gain nothing, before a greedy or careful bot stops."""


@dataclass
class BotMemory:
    """The state of a bot between the moves of one race.

    ``node_budget`` limits every search. ``line`` is the plan: the moves still to be made, each with the
    board that it applies to. ``detours`` counts the consecutive plans that gained nothing.
    """

    rng: Random
    node_budget: int = CAREFUL_NODES
    evaluation: Evaluation | None = None
    visited: set[Key] = field(default_factory=set)
    line: list[tuple[Board, Move]] = field(default_factory=list)
    detours: int = 0


def choose_move(level: Level, board: Board, memory: BotMemory) -> Move | None:
    """Choose a bot's move, or None if it makes no more moves. Updates ``memory``."""
    match level:
        case "random":
            moves = board.legal_moves()
            return memory.rng.choice(moves) if moves else None
        case "greedy":
            return _searched_move(board, memory, min(GREEDY_NODES, memory.node_budget))
        case "careful":
            return _searched_move(board, memory, memory.node_budget)


def _searched_move(board: Board, memory: BotMemory, node_budget: int) -> Move | None:
    """Return the next move of the line in memory, or of a new line if the old one does not lead on from this board."""
    if memory.line and memory.line[0][0] == board:
        return memory.line.pop(0)[1]
    if _should_deal_first(board):
        return DEAL
    memory.visited.add(key_of(board))
    moves = _search_line(board, memory, node_budget)
    if not moves:
        return None
    memory.line = []
    current = board
    for move in moves:
        memory.line.append((current, move))
        memory.visited.add(key_of(current))
        if current.turns_up(move):
            break
        current = current.play(move).board
    return memory.line.pop(0)[1]


def _should_deal_first(board: Board) -> bool:
    """Return whether to deal before any other move.

    If any cards of a column can be lifted, a dealt row buries nothing. Then knowing more cards is worth more than any move.
    """
    game = board.game
    return game.piles[game.columns.start].lifts_any and game.stock.to_columns and bool(board.stock)


def _search_line(board: Board, memory: BotMemory, node_budget: int) -> tuple[Move, ...]:
    """Return the moves to make next. There are none if no move helps and no card can go to a foundation."""
    if memory.detours > _MAX_DETOURS:
        return ()
    if memory.evaluation is None:
        memory.evaluation = Evaluation(board.game, weights_of(board.game).varied(memory.rng))
    best, most_foundation_cards = search(board, memory.evaluation, memory.visited, node_budget)
    if best is None:
        return ()
    if best.gain > 0 or best.moves[-1] == DEAL:
        memory.detours = 0
        return best.moves
    memory.detours += 1
    if memory.detours <= _MAX_DETOURS:
        return best.moves
    return most_foundation_cards.moves if most_foundation_cards else ()

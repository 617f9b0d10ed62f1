"""The choice of a bot's moves. Bots of all levels see a masked board, as a player does.

- ``random`` makes any move that leads to a new board. Moves that turn up a card or put one on a foundation are likely.
  Such bots are for tests.
- ``greedy`` searches a few hundred boards.
- ``patient`` and ``careful`` guess where the cards lie that they can't see, and ask the solver for a line that would win.
  If it finds none, they search thousands of boards.

All but random bots plan a line of moves and follow it until a card is turned up. They return to an earlier board
only on the way to a new board. If no move helps, ``action_choice`` decides on the next action.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.cards import HIDDEN
from samedeal.laws.safe_cards import deals_first
from samedeal.laws.stuck import Key, key_of
from samedeal.moves import DEAL, FOUNDATION, Move
from samedeal.solver.solve import solve
from samedeal_link.solving.bot_levels import Level
from samedeal_link.solving.evaluation import Evaluation, varied
from samedeal_link.solving.foresight import guessed
from samedeal_link.solving.search import search
from samedeal_link.solving.temperament import STEADY, Temperament

GREEDY_NODES: Final = 200
"""Maximum number of boards in a search of a greedy bot, before it is multiplied by ``thoroughness``.

In the file of a game, ``greed`` multiplies it too.
"""

CAREFUL_NODES: Final = 4000
"""Maximum number of boards in a search of a careful bot, before it is multiplied by ``thoroughness``.

Such a search takes about 50 ms. In the file of a game, ``care`` multiplies the number too: where many cards are hidden,
a short search plays better than a long one, which likes boards that are never reached.
"""

_SOLVED_SHARE: Final = 0.5
"""Number of states that the solver reaches for a careful bot, as a share of ``node_budget``."""

FOUNDATION_APPEAL: Final = 12.0
REVEAL_APPEAL: Final = 6.0
DEAL_APPEAL: Final = 0.3
"""Weights in the choice of a random bot: for moves to a foundation, for moves that turn up a card, for dealing a row.

All other moves have the weight 1. In the file of a game, ``lure`` multiplies the first two.
"""

_LEAST_LURE: Final = 0.001
"""Minimum of ``lure``, so that a bot that overlooks useful moves makes one if there is no other."""

_GUESSES: Final = 3
"""Number of times that a careful bot guesses where the hidden cards lie, before it plans without guessing."""

_GUESS_INTERVAL: Final = 8

_MAX_DETOURS: Final = 6
"""Maximum number of consecutive plans that gain nothing. ``_search_line`` says what a bot does after them."""


@dataclass
class BotMemory:
    """The state of a bot between the moves of one race.

    ``node_budget`` is the maximum number of boards in a search, before it is multiplied by the temperament's
    ``thoroughness``. ``line`` is the plan: the moves still to be made, each with the board that it applies to.
    ``detours`` counts the consecutive plans that gained nothing. ``unsolved`` is the number of hidden cards when the solver
    last found no line, or -1, and ``plans`` counts the plans since.
    """

    rng: Random
    node_budget: int = CAREFUL_NODES
    temperament: Temperament = STEADY
    evaluation: Evaluation | None = None
    visited: set[Key] = field(default_factory=set)
    line: list[tuple[Board, Move]] = field(default_factory=list)
    detours: int = 0
    unsolved: int = -1
    plans: int = 0


def choose_move(level: Level, board: Board, memory: BotMemory) -> Move | None:
    """Choose a bot's next move and update ``memory``. Return None if the bot finds no move that helps."""
    match level:
        case "random":
            return _random_move(board, memory)
        case "greedy":
            nodes = round(board.game.file.bots.greed * GREEDY_NODES)
            return _searched_move(board, memory, min(nodes, memory.node_budget))
        case "patient" | "careful":
            nodes = round(board.game.file.bots.care * memory.node_budget)
            return _searched_move(board, memory, nodes, round(_SOLVED_SHARE * memory.node_budget))


def _random_move(board: Board, memory: BotMemory) -> Move | None:
    """Return a random move to a board that the bot has not seen yet, or None if there is none."""
    memory.visited.add(key_of(board))
    weights = {move: _appeal(board, move) for move in board.legal_moves() if _leads_on(board, move, memory)}
    return memory.rng.choices(list(weights), list(weights.values()))[0] if weights else None


def _leads_on(board: Board, move: Move, memory: BotMemory) -> bool:
    """Return whether a move turns up a card, or leads to a board that the bot has not seen yet.

    Return False for every move off a foundation.
    """
    if move.is_transfer and board.is_worry_back(move):
        return False
    return bool(board.turns_up(move)) or key_of(board.play(move).board) not in memory.visited


def _appeal(board: Board, move: Move) -> float:
    """Return the weight of a move in the choice of a random bot. A move that only rearranges cards has weight 1."""
    lure = max(board.game.file.bots.lure, _LEAST_LURE)
    if move.target == FOUNDATION:
        return lure * FOUNDATION_APPEAL
    if move == DEAL:
        return DEAL_APPEAL
    return lure * REVEAL_APPEAL if board.turns_up(move) else 1.0


def _searched_move(board: Board, memory: BotMemory, node_budget: int, solver_budget: int = 0) -> Move | None:
    """Return the next move of the planned line. If the line was planned for another board, plan a new one.

    Return None if no move helps.
    """
    node_budget = max(round(memory.temperament.thoroughness * node_budget), 1)
    if memory.line and memory.line[0][0] == board:
        return memory.line.pop(0)[1]
    if deals_first(board.game) and board.stock:
        return DEAL
    memory.visited.add(key_of(board))
    moves = _winning_line(board, solver_budget, memory) or _search_line(board, memory, node_budget)
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


def _winning_line(board: Board, budget: int, memory: BotMemory) -> tuple[Move, ...]:
    """Return the moves that win a board if its hidden cards lie as guessed, or no moves if the solver finds none.

    If it has just found none, ask it again only after a card is turned up, or after ``_GUESS_INTERVAL`` more plans.
    """
    hidden = sum(pile.count(HIDDEN) for pile in board.piles)
    memory.plans += 1
    if not budget or (hidden == memory.unsolved and memory.plans < _GUESS_INTERVAL):
        return ()
    memory.plans, memory.unsolved = 0, hidden
    for _ in range(_GUESSES if hidden else 1):
        if line := solve(guessed(board, memory.rng), budget).line:
            memory.unsolved = -1
            return line
    return ()


def _search_line(board: Board, memory: BotMemory, node_budget: int) -> tuple[Move, ...]:
    """Plan the next line of moves and return it. Up to ``_MAX_DETOURS`` consecutive plans may gain nothing.

    If one more plan would gain nothing, return the line that brings the most cards to the foundations instead. From
    then on, return no moves until ``memory.detours`` is reset. Also return no moves if the search finds no line.
    """
    if memory.detours > _MAX_DETOURS:
        return ()
    if memory.evaluation is None:
        rng, temperament = memory.rng, memory.temperament
        weights = varied(board.game.file.bots, rng, temperament)
        memory.evaluation = Evaluation(board.game, weights, partial(rng.uniform, -temperament.whim, temperament.whim))
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

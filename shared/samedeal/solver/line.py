"""The conversion of a search's states to moves. A *line* is a sequence of moves that wins a board."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from samedeal.board import Board
from samedeal.errors import IllegalMove
from samedeal.moves import FOUNDATION, Move
from samedeal.solver.states import TOPS, State, StateSpace

Line = tuple[Move, ...]


def wins(board: Board, line: Iterable[Move]) -> bool:
    """Return whether the rules allow all moves of a line, and the board is won after the last one."""
    try:
        for move in line:
            board = board.play(move).board
    except IllegalMove:
        return False
    return board.won


def moves_along(space: StateSpace, board: Board, path: Iterable[State], *, by_text: bool = False) -> Line:
    """Return the moves that lead from a board through a sequence of states that a search has found.

    The first state follows from the board only by safe moves to foundations (``laws.safe_cards``). Each further
    state follows from the previous one by draws, a move, and then safe moves. Of several moves that lead to a state, it
    is the first legal one, or with ``by_text`` the first one by its text. Raise ValueError if no such moves exist.
    """
    line: list[Move] = []
    for state in path:
        moves, board = _step(space, board, state, by_text=by_text)
        line += moves
    return tuple(line)


def _step(space: StateSpace, board: Board, state: State, *, by_text: bool) -> tuple[list[Move], Board]:
    moves, after = _play_safe(space, board, state)
    if space.state(after) == state:
        return moves, after
    draws: list[Move] = []
    seen = set()
    while board.piles not in seen:
        seen.add(board.piles)
        legal = board.legal_moves()
        for move in sorted(legal, key=str) if by_text else legal:
            moves, after = _play_safe(space, board.play(move).board, state)
            if space.state(after) == state:
                return [*draws, move, *moves], after
        if not space.game.stock.to_waste or not board.stock_action:
            break
        draws.append(board.stock_action)
        board = board.play(board.stock_action).board
    raise ValueError("no move leads to the next state of the path")


def _play_safe(space: StateSpace, board: Board, state: State) -> tuple[list[Move], Board]:
    """Play to foundations all cards that are on the foundations of ``state``, but not yet on those of the board.

    Return the moves and the new board.
    """
    moves: list[Move] = []
    if space.has_safe_cards:
        while move := next(_owed(board, state[TOPS]), None):
            moves.append(move)
            board = board.play(move).board
    return moves, board


def _owed(board: Board, tops: bytes) -> Iterator[Move]:
    for move in board.legal_moves():
        if move.target != FOUNDATION:
            return
        card = board.piles[board.game.index[move.source]][-1]
        if any(top >> 4 == card >> 4 and top >= card for top in tops):
            yield move

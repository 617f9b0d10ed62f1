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

    The first state is the board after it was settled (``Search``). Each further state follows from the previous one by
    draws, a move, and then as it is settled. Of several moves that lead to a state, it is the first legal one, or with
    ``by_text`` the first one by its text. Raise ValueError if no such moves exist.
    """
    line: list[Move] = []
    for state in path:
        moves, board = _step(space, board, state, by_text=by_text)
        line += moves
    return tuple(line)


def _step(space: StateSpace, board: Board, state: State, *, by_text: bool) -> tuple[list[Move], Board]:
    moves, after = _settled(space, board, state)
    if space.state(after) == state:
        return moves, after
    draws: list[Move] = []
    seen = set()
    while board.piles not in seen:
        seen.add(board.piles)
        legal = board.legal_moves()
        for move in sorted(legal, key=str) if by_text else legal:
            moves, after = _settled(space, board.play(move).board, state, move)
            if space.state(after) == state:
                return [*draws, *moves], after
        if not space.game.stock.to_waste or not board.stock_action:
            break
        draws.append(board.stock_action)
        board = board.play(board.stock_action).board
    raise ValueError("no move leads to the next state of the path")


def _settled(space: StateSpace, board: Board, state: State, *moves: Move) -> tuple[list[Move], Board]:
    """Settle a board, perhaps after a move. Return the moves, with that one, and the new board."""
    made = list(moves)
    while space.has_safe_cards and (move := next(_owed(space, board, state, made), None)):
        made.append(move)
        board = board.play(move).board
    return made, board


def _owed(space: StateSpace, board: Board, state: State, made: list[Move]) -> Iterator[Move]:
    """Yield moves that a search makes at once after those made.

    They take the next card of a run that goes to cells, cards that are home in ``state``, and cards from cells onto runs.
    """
    game, legal = board.game, board.legal_moves()
    tops = {key: pile[-1] if pile else 0 for key, pile in zip(game.keys, board.piles, strict=True)}
    cells = [game.keys[at] for at in game.cells] if space.joins_runs else []
    if made and made[-1].target in cells and tops[made[-1].source] == tops[made[-1].target] + 1:
        yield from (move for move in legal if move.source == made[-1].source and move.target in cells)
    for move in legal:
        if move.target == FOUNDATION:
            card = tops[move.source]
            if any(top >> 4 == card >> 4 and top >= card for top in state[TOPS]):
                yield move
        elif move.source in cells and tops[move.target]:
            yield move

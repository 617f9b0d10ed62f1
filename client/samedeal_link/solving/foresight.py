"""Long plans of careful bots, for games in which a short look ahead never wins. Pure.

The solver searches a board on which the hidden cards lie as guessed. Its line is a plan until a card turns up. If it finds
no line, a bot that may undo its moves looks at its earlier boards: it knows more cards now than it knew then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.board_history import UNDO, Play
from samedeal.cards import FACE, HIDDEN
from samedeal.moves import Move
from samedeal.solver.line import Line, wins
from samedeal.solver.solve import solve

_GUESSES: Final = 4
"""Number of guesses for each board."""

_NEAR: Final = 12
"""Maximum number of moves between two moves of the same cards that are merged into one."""


def guessed(board: Board, rng: Random) -> Board:
    """Return a board whose hidden cards are the cards that are not seen, in a random order."""
    seen = Counter(code & FACE for pile in board.piles for code in pile if code != HIDDEN)
    guesses = list((Counter(board.game.deck) - seen).elements())
    rng.shuffle(guesses)
    piles = (bytes(HIDDEN | guesses.pop() if code == HIDDEN else code for code in pile) for pile in board.piles)
    return Board(board.game, tuple(piles))


def lines_from(play: Play, budget: int, rng: Random) -> Iterator[tuple[Play, Line]]:
    """Yield lines that would win, each with the masked play from which it starts: ``play``, or one before it.

    A line without moves says that none was found for this play, which took up to three seconds. The plays before ``play``
    are reached by undos, each twice as far back as the one before it, counted in moves that turned up cards. ``budget`` is
    the maximum number of states that the solver reaches for a guess.
    """
    distance = 1
    while True:
        boards = (guessed(play.board, rng) for _ in range(_GUESSES))
        yield play, next((shortened(board, line) for board in boards if (line := solve(board, budget).line)), ())
        reveals = 0
        while reveals < distance and play.past is not None and play.why_no_undo is None:
            reveals += play.past.step.flipped or not play.past.step.move.is_transfer
            play = play.act(UNDO)
        if not reveals:
            return
        distance *= 2


def shortened(board: Board, line: Line) -> Line:
    """Return a line that wins without some of the moves of ``line`` that are not needed."""
    made: Line = ()
    while line:
        shorter = next((other for other in _shorter(*line) if wins(board, other)), None)
        if shorter is not None:
            line = shorter
            continue
        board = board.play(line[0]).board
        made, line = (*made, line[0]), line[1:]
    return made


def _shorter(first: Move, *later: Move) -> Iterator[Line]:
    """Yield lines without the first move, or with only one move of the cards that it moves."""
    yield later
    for at, move in enumerate(later[:_NEAR]):
        if (move.source, move.size) == (first.target, first.size):
            before, after = later[:at], later[at + 1 :]
            merged = (Move(first.source, move.target, move.size),) * (move.target != first.source)
            yield (*merged, *before, *after)
            yield (*before, *merged, *after)
            return

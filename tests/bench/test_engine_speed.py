"""The cost of a checked move and of all legal moves, in positions from random playouts. Prints a table.

The same numbers are given as multiples of the time of a fixed piece of plain Python.
With these, runs on different machines, or on a busy one, can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.errors import IllegalMove
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.moves import Move
from tests.bench.move_stages import microseconds
from tests.shared.playouts import playout

PLAYOUTS = 20
MIDDLE = range(20, 100, 4)
TRIES = 7


class Case(NamedTuple):
    """A board of a playout, the move made on it, and an illegal move."""

    board: Board
    play: Play
    move: Move
    text: str
    refused: Move


def middle_of(game: Game) -> list[Case]:
    """Return boards from the middle of some playouts, each with its history."""
    found = []
    for number in range(PLAYOUTS):
        play: Play | None = None
        for at, (board, move) in enumerate(playout(game, number, MIDDLE.stop)):
            play = play or Play(board)
            if at in MIDDLE:
                refused = Move("1", "2", 9) if not board.is_legal(Move("1", "2", 9)) else Move("2", "1", 9)
                found.append(Case(board, play, move, str(move), refused))
            play = play.act(move)
    return found


def reference() -> int:
    """A fixed piece of work for comparison between machines."""
    found = 0
    for number in range(100):
        found = (found * 31 + number) % 1009
    return found


def micros(work: Callable[[Case], object], cases: list[Case]) -> float:
    """Return the best mean over all cases of a few tries, in microseconds."""
    return microseconds(lambda: [work(case) for case in cases], 1, TRIES) / len(cases)


def refused(case: Case) -> str:
    try:
        case.board.play(case.refused)
    except IllegalMove as error:
        return str(error)
    raise AssertionError("a move that should be refused was made")


WORKS: dict[str, Callable[[Case], object]] = {
    "Board.play": lambda case: case.board.play(case.move),
    "Play.act": lambda case: case.play.act(case.text, case.play.revision),
    "refusal": refused,
    "legal_moves": lambda case: list(case.board.legal_moves()),
    "stuck": lambda case: case.board.stuck,
    "state_hash": lambda case: case.board.state_hash(),
    "masked": lambda case: case.board.masked(),
}


def test_engine_speed() -> None:
    unit = micros(lambda case: reference(), middle_of(GAMES["willow"]))
    print(f"\n\nus each, and as multiples of the reference ({unit:.1f} us)\n")
    print(f"{'':15}" + "".join(f"{name:>18}" for name in WORKS) + f"{'moves':>9}")
    for game in GAMES.values():
        cases = middle_of(game)
        times = [micros(work, cases) for work in WORKS.values()]
        moves = sum(len(case.board.legal_moves()) for case in cases) / len(cases)
        print(f"{game.name:15}" + "".join(f"{time:10.1f} {time / unit:6.2f}x" for time in times) + f"{moves:9.1f}")

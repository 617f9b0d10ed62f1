"""The time to draw a board and one of its columns. Prints a table."""

from __future__ import annotations

from functools import partial

from samedeal.board import Board
from samedeal.games import GAMES
from samedeal_client.drawing.column import draw_column
from samedeal_client.drawing.draw_board import draw
from samedeal_client.drawing.layout import Layout, layout
from samedeal_client.drawing.marks import NO_MARKS, selection_marks
from samedeal_client.text.appearance import Look
from tests.bench.measure import microseconds
from tests.client.boards import POSITIONS, golden_position
from tests.client.pictures import text_of

ROUNDS = 300
TRIES = 3


def as_text(now: Board, look: Look, at: Layout) -> str:
    return text_of(draw(now, look, at))


def test_render_speed() -> None:
    print("\n\nus to draw                      board     text   column   marked   of cards")
    look = Look()
    for name, game in GAMES.items():
        for stage in POSITIONS:
            now = golden_position(name, stage)
            deepest = max((*game.columns, *game.fans), key=lambda pile: len(now.piles[pile]))
            key = game.keys[deepest]
            for width, height in ((80, 21), (120, 37)):
                at = layout(game, width, height, panel=True)
                times = (
                    microseconds(partial(draw, now, look, at), ROUNDS, TRIES),
                    microseconds(partial(as_text, now, look, at), ROUNDS, TRIES),
                    microseconds(partial(draw_column, now, key, look, at, NO_MARKS), ROUNDS, TRIES),
                    microseconds(partial(draw_column, now, key, look, at, selection_marks(now, key)), ROUNDS, TRIES),
                )
                row = "".join(f"{time:>9.1f}" for time in times)
                print(f"{name:<14}{stage:<8}{width:>4}{row}{len(now.piles[deepest]):>9}")

"""How long it takes to draw a board and one column of it: a table, no limits."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from samedeal.board import Board
from samedeal.games import GAMES
from samedeal_client.board.column import draw_column
from samedeal_client.board.layout import Layout, layout
from samedeal_client.board.marks import NO_MARKS, picked
from samedeal_client.board.render import draw
from samedeal_client.text.look import Look
from tests.client.boards import STAGES, kept

ROUNDS = 300
TRIES = 3


def micros(work: Callable[..., object], *given: object) -> float:
    """The best mean of a few tries, in microseconds."""
    best = float("inf")
    for _ in range(TRIES):
        began = perf_counter()
        for _ in range(ROUNDS):
            work(*given)
        best = min(best, perf_counter() - began)
    return best / ROUNDS * 1e6


def as_text(now: Board, look: Look, at: Layout) -> str:
    return draw(now, look, at).text()


def test_render_speed() -> None:
    print("\n\nus to draw                      board     text   column   marked   of cards")
    look = Look()
    for name, game in GAMES.items():
        for stage in STAGES:
            now = kept(name, stage)
            deepest = max((*game.columns, *game.fans), key=lambda pile: len(now.piles[pile]))
            key = game.keys[deepest]
            for width, height in ((80, 21), (120, 37)):
                at = layout(game, width, height, panel=True)
                times = (
                    micros(draw, now, look, at),
                    micros(as_text, now, look, at),
                    micros(draw_column, now, key, look, at, NO_MARKS),
                    micros(draw_column, now, key, look, at, picked(now, key)),
                )
                row = "".join(f"{time:>9.1f}" for time in times)
                print(f"{name:<14}{stage:<8}{width:>4}{row}{len(now.piles[deepest]):>9}")

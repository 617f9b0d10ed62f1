"""Replays of won races on the screen, with keys and with the mouse."""

from __future__ import annotations

import os
from itertools import cycle

import pytest

from samedeal.board_history import Undo
from samedeal.games import game_named
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
from samedeal.options import Options
from samedeal_client.board.foundation_order import foundation_for
from tests.client.referee import Referee, RunningApp, running_app
from tests.client.typed_moves import keys_for
from tests.shared.playouts import FAMILIES, won_play, won_record

SIZES = ((80, 24), (120, 40))


MOST_MOVES = 1000 if os.environ.get("ALL_GAMES") else 12
"""Longer records are played from the board on which so many moves are left. ``ALL_GAMES=1`` plays them all."""


def referee_of(game: str) -> Referee:
    record, first = won_record(game), max(0, len(won_record(game).actions) - MOST_MOVES)
    assert record.undo_rule is Undo.OFF
    options = Options(games=(game,), deal=str(record.deal), undo="off")
    return Referee(game, deal=options.deal, board=won_play(game_named(game))[first].board, options=options)


async def by_mouse(ui: RunningApp, move: Move, *, drag: bool) -> None:
    """Make a move by dragging, or by clicking the cards and then the target."""
    board = ui.board
    index = board.game.index
    if move in (DRAW, DEAL):
        await ui.click("stock")
        return
    pile = board.piles[index[move.source]]
    target = move.target
    if target == FOUNDATION:
        target = foundation_for(board, pile[-move.size]) or ""
    on = len(board.piles[index[target]]) - 1 if board.piles[index[target]] else None
    if drag:
        await ui.drag(move.source, len(pile) - move.size, target, on)
    else:
        await ui.click(move.source, len(pile) - move.size)
        await ui.click(target, on)


@pytest.mark.parametrize(("game", "size"), list(zip(FAMILIES, cycle(SIZES), strict=False)))
async def test_won_by_keys_and_mouse(game: str, size: tuple[int, int]) -> None:
    """Keys, a drag and clicks take turns."""
    async with running_app(referee_of(game), size) as ui:
        for number, (_, action) in enumerate(won_record(game).actions[-MOST_MOVES:]):
            move = Move.parse(action)
            if number % 3 == 0:
                await ui.press(*keys_for(move, ui.board))
            else:
                await by_mouse(ui, move, drag=number % 3 == 1)
            assert ui.acts[-1] == action
        assert ui.board.won
        assert "You finished" in ui.message

"""Races that were won before, won again on the screen: every move by keys, and every move by mouse."""

from __future__ import annotations

import pytest

from samedeal.games import GAMES
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
from samedeal.options import Options
from samedeal.play import Undo
from samedeal_client.board.marks import foundation_for
from tests.client.hands import keys_for, won
from tests.client.referee import Referee, Sitting, sitting

SIZES = ((80, 24), (120, 40))


def referee_of(game: str) -> Referee:
    record = won(game)
    assert record.undo_rule is Undo.OFF
    return Referee(game, deal=str(record.deal), options=Options(games=(game,), deal=str(record.deal), undo="off"))


async def by_mouse(table: Sitting, move: Move, *, drag: bool) -> None:
    """Drag the cards to where they go, or click on them and on where they go."""
    board = table.board
    index = board.game.index
    if move in (DRAW, DEAL):
        await table.click("stock")
        return
    pile = board.piles[index[move.source]]
    target = move.target
    if target == FOUNDATION:
        target = foundation_for(board, pile[-1]) or ""
    on = len(board.piles[index[target]]) - 1 if board.piles[index[target]] else None
    if drag:
        await table.drag(move.source, len(pile) - move.size, target, on)
    else:
        await table.click(move.source, len(pile) - move.size)
        await table.click(target, on)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("game", GAMES)
async def test_won_by_keys(game: str, size: tuple[int, int]) -> None:
    async with sitting(referee_of(game), size) as table:
        for _, action in won(game).actions:
            await table.press(*keys_for(Move.parse(action), table.board))
            assert table.acts[-1] == action
        assert table.board.won
        assert "You are home" in table.sentence


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("game", GAMES)
async def test_won_by_mouse(game: str, size: tuple[int, int]) -> None:
    async with sitting(referee_of(game), size) as table:
        for number, (_, action) in enumerate(won(game).actions):
            await by_mouse(table, Move.parse(action), drag=number % 2 == 0)
            assert table.acts[-1] == action
        assert table.board.won

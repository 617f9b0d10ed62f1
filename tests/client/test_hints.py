"""Hints to the player: how the client gets them, keeps them and shows them."""

from __future__ import annotations

from collections import Counter

import pytest

from samedeal.board import Board
from samedeal.laws.hints import Hint, hint
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.input.controller import RaceController
from samedeal_client.line_by_line.line_parser import parse_line
from samedeal_client.panels.race import hint_text
from samedeal_client.text.appearance import Look
from samedeal_link.solving.solver_process import Hints, SolverProcess
from tests.client.boards import dealt
from tests.shared.playouts import FAMILIES


@pytest.mark.parametrize("game", FAMILIES)
async def test_keys_and_line_of_a_hint_make_its_move(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Following hints in this way never goes round in a circle."""

    async def searched(_: SolverProcess, board: Board) -> Hint:
        return hint(board, 300)

    monkeypatch.setattr(SolverProcess, "hint", searched)
    now, hints = dealt(game, 5), Hints()
    passed: Counter[Board] = Counter()
    while (move := (await hints.suggest(now.masked())).move) is not None and passed.total() < 60:
        seen = now.masked()
        passed[seen] += 1
        assert passed[seen] <= 6
        assert parse_line(seen, str(move)) == move
        if move.is_transfer:
            keys = hint_text(seen, move, DEFAULT, Look()).partition(":")[0].removeprefix("Type ").split()
            selected = RaceController().hinted(seen, move).press(keys[0], seen, 0.0)
            assert selected.controller.press(keys[1], seen, 0.0).action == move
        now = now.play(move).board
    assert passed.total() > 9


async def test_hint_comes_from_a_process() -> None:
    lost = dealt("phoenix", 240).masked()
    told = await Hints().suggest(lost)
    assert told == hint(lost)
    assert told.is_lost


async def test_hint_is_kept_while_it_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def searched(_: SolverProcess, board: Board) -> Hint:
        asked.append(board)
        return hint(board)

    monkeypatch.setattr(SolverProcess, "hint", searched)
    now, hints = dealt("phoenix", 7).masked(), Hints()
    start = now
    line = (await hints.suggest(now)).moves
    for at, move in enumerate(line):
        assert (await hints.suggest(now)).moves == line[at:]
        now = now.play(move).board
    assert asked == [start]
    other = next(move for move in start.legal_moves() if move != line[0])
    await hints.suggest(start.play(other).board)
    assert asked == [start, start.play(other).board]

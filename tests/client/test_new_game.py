"""A new game made of today's policies: the client draws it without any code for the game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from samedeal import stock
from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.policies import Base, Build, Faces, Kind, Lift
from samedeal.stock import DRAW_THREE, StockPolicy
from samedeal_client.drawing.board_lines import board_lines
from samedeal_client.drawing.column import takes_text
from samedeal_client.drawing.draw_board import draw_board
from samedeal_client.drawing.layout import Size, smallest
from samedeal_client.drawing.mini_board import draw_mini, smallest_mini
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.text.appearance import Look
from samedeal_client.text.rules_text import rules_rows
from samedeal_client.text.spans import row_text, row_width
from samedeal_client.views.help import help_rows
from tests.shared.sixth_game import HAMLET

STOCKS = {name: value for name, value in vars(stock).items() if isinstance(value, StockPolicy)}
LOOKS = [Look(), Look(ascii=True), Look(words=True)]


def variant(name: str, policy: StockPolicy = DRAW_THREE, **rules: Any) -> Game:
    """Hamlet with another stock, or with other rules for its columns and fans."""
    kinds = {Kind.STOCK: policy.action is not None, Kind.WASTE: policy.to_waste}
    groups = [group for group in HAMLET.groups if kinds.get(group.kind, True)]
    if policy.action is None:
        groups = [replace(group, sizes=(9, 9, 9, 9, 8)) if group.kind is Kind.COLUMN else group for group in groups]
    changed = (replace(group, **rules) if group.kind in (Kind.COLUMN, Kind.FAN) else group for group in groups)
    return replace(HAMLET, name=name.lower(), stock=policy, groups=tuple(changed))


VARIANTS = [
    *(variant(f"base {base.name}", base=base) for base in Base),
    *(variant(f"build {build.name}", build=build) for build in Build),
    *(variant(f"lift {lift.name}", lift=lift) for lift in Lift),
    *(variant(f"faces {faces.name}", faces=faces) for faces in Faces),
    *(variant(name, policy) for name, policy in STOCKS.items()),
]


def boards(game: Game) -> Iterator[Board]:
    """A board without cards, a dealt one, and those that follow from random moves."""
    yield Board(game, (b"",) * len(game.piles))
    yield (board := Board.deal(game, shuffled(bytes(range(32)), game.decks)))
    rng = Random(5)
    for _ in range(40):
        if legal := board.legal_moves():
            board = board.play(rng.choice(legal)).board
            yield board


def larger(size: Size) -> Size:
    return Size(size.width + 60, size.height + 30)


@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_new_game_is_drawn(game: Game) -> None:
    for board in boards(game):
        for look in LOOKS:
            assert len(board_lines(board, look)) >= len(game.columns) + len(game.fans)
        for size in (smallest(game), larger(smallest(game))):
            picture = draw_board(board, Look(), *size)
            assert {area.target.pile for region in picture.regions for area in region.hit_areas} == set(game.keys)
            assert max(map(row_width, picture.rows)) <= size.width
        for size in (smallest_mini(game), larger(smallest_mini(game))):
            rows = draw_mini(board, Look(), *size)
            assert (len(rows), {row_width(row) for row in rows}) == (size.height, {size.width})


@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_new_game_has_help_and_rules(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, game.name, game)
    text = " ".join(" ".join(row_text(row) for row in help_rows(game.name, DEFAULT, Look(), 80)).split())
    assert f"How to move in {game.title}" in text
    assert game.stock.instruction in text
    assert rules_rows(game, Look(), 80)


@pytest.mark.parametrize(
    ("base", "words", "outline"),
    [
        (Base.NOTHING, "empty", ""),
        (Base.ANY, "empty, takes any card", "any"),
        (Base.KING, "empty, takes a king", "K"),
        (Base.ACE, "empty, takes an ace", "A"),
        (Base.ACE_OF_HEARTS, "empty, takes the ace of hearts", "A♥"),
    ],
)
def test_empty_column_says_what_it_takes(base: Base, words: str, outline: str) -> None:
    board = next(boards(variant(f"base {base.name}", base=base)))
    assert f"Column 1: {words}" in map(row_text, board_lines(board, Look()))
    assert takes_text(board.game.piles[0], Look()) == outline

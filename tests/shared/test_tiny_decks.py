"""Collecting never loses a game: safe moves are tried on all boards that tiny decks lead to, in Python and on the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice, permutations
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from samedeal.board import Board
from samedeal.game import Game
from samedeal.game_file import parse_game_file
from samedeal.laws.safe_cards import safe_move
from samedeal.moves import FOUNDATION, Move
from tests.shared.javascript import NODE, answer_of_page

COLUMNS: Final = {
    "alternating": 'build = "down by one in alternating colours"\nlift = "runs in alternating colours"',
    "alternating-any": 'build = "down by one in alternating colours"\nlift = "any face-up cards"',
    "suitless": 'build = "down by one in any suit"\nlift = "runs in any suit"',
    "suitless-any": 'build = "down by one in any suit"\nlift = "any face-up cards"',
    "suits": 'build = "down by one in the same suit"\nlift = "runs in the same suit"',
}
ASIDE: Final = {
    "alone": "",
    "cell": '[[piles]]\nkind = "cell"\nkeys = "q"\nempty = "any card"',
    "fan": '[[piles]]\nkind = "fan"\nkeys = "q"\ncards = "3"\nbuild = "with cards of the same rank"',
}
DECKS: Final = (((0, 1), 3, 720), ((0, 3), 3, 720), ((0, 1), 4, 4), ((0, 1, 2), 3, 3), ((0, 1, 2, 3), 3, 1))
"""Suits, how many of the highest ranks of each, and how many deals: of six cards all."""


TABLES: Final = [f"{columns}-{aside}" for columns in COLUMNS for aside in ASIDE]
Key = tuple[bytes, ...]


def table(name: str) -> Game:
    """Three columns, of which empty ones take nothing, and perhaps a place aside."""
    columns, _, aside = name.rpartition("-")
    text = f"""
        title = "{name}"
        stock = "draws of one"
        [[piles]]
        kind = "column"
        keys = "1 2 3"
        cards = "4 4 4"
        empty = "nothing"
        {COLUMNS[columns]}
        [[piles]]
        kind = "foundation"
        keys = "01 02 03 04"
        build = "up by one in the same suit"
        empty = "only an ace"
        {ASIDE[aside]}
        [[piles]]
        kind = "stock"
        keys = "stock"
        [[piles]]
        kind = "waste"
        keys = "w"
    """
    return Game(name, parse_game_file(name, text)[name])


def deals(game: Game, suits: tuple[int, ...], ranks: int, most: int) -> Iterator[Board]:
    """Deals of a tiny deck, whose lower cards, and those of other suits, are on the foundations.

    Those of more than six cards are random.
    """
    low = 13 - ranks
    deck = [suit << 4 | rank for suit in suits for rank in range(low + 1, 14)]
    orders: Iterator[Any] = permutations(deck)
    if len(deck) > 6:
        chance = Random(f"{suits} {ranks}")
        orders = (chance.sample(deck, len(deck)) for _ in range(most))
    for order in islice(orders, most):
        piles = [b""] * len(game.piles)
        for suit, at in enumerate(game.foundations):
            piles[at] = bytes(suit << 4 | rank for rank in range(1, 1 + (low if suit in suits else 13)))
        places = (*game.columns, *game.fans)
        for number, at in enumerate(places):
            piles[at] = bytes(order[number :: len(places)])
        yield Board(game, tuple(piles))


@cache
def reached(name: str) -> tuple[dict[Key, Board], dict[Key, dict[Move, Key]], set[Key]]:
    """All boards that the deals lead to, with what their moves lead to, and those that can be won."""
    game = table(name)

    def key(board: Board) -> Key:  # columns have no order
        columns = {*game.columns}
        return (
            *sorted(board.piles[at] for at in columns),
            *(p for at, p in enumerate(board.piles) if at not in columns),
        )

    boards: dict[Key, Board] = {}
    after: dict[Key, dict[Move, Key]] = {}
    before = defaultdict[Key, set[Key]](set)
    for deal in (deal for deck in DECKS for deal in deals(game, *deck)):
        left = [key(deal)]
        boards.setdefault(left[0], deal)
        while left:
            now = left.pop()
            if now in after:
                continue
            after[now] = {}
            for move in boards[now].legal_moves():
                board = boards[now].play(move).board
                then = after[now][move] = key(board)
                before[then].add(now)
                boards.setdefault(then, board)
                left.append(then)
    won = {now for now, board in boards.items() if board.won}
    left = list(won)
    while left:
        for now in before[left.pop()] - won:
            won.add(now)
            left.append(now)
    return boards, after, won


@pytest.mark.parametrize("name", TABLES)
def test_safe_move_on_a_tiny_deck_never_loses(name: str, tmp_path: Path) -> None:
    """In Python, and on the page."""
    boards, after, won = reached(name)
    for now in won:
        move = safe_move(boards[now])
        assert move is None or after[now][move] in won, str(boards[now])
    if NODE:
        fitting = [boards[now] for now in after if any(move.target == FOUNDATION for move in after[now])]
        given = [[name, [list(pile) for pile in board.piles]] for board in fitting]
        told = answer_of_page("playing.collected", tmp_path, given, [table(name)])
        assert told == [str(safe_move(board)) for board in fitting]


def test_other_moves_to_foundations_may_lose() -> None:
    """Otherwise, every law would do."""
    losing = set()
    for name in TABLES:
        _, after, won = reached(name)
        ends = [then for now in won for move, then in after[now].items() if move.target == FOUNDATION]
        losing |= {name} if won < {*ends, *won} else set()
    assert {name.rpartition("-")[0] for name in losing} == COLUMNS.keys()

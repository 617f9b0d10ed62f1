"""A new game made of today's policies: the client draws it without any code for the game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import pytest
from msgspec import structs

from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.errors import MalformedGame
from samedeal.game import Game
from samedeal.game_file import FOUNDATIONS, parse_game_file
from samedeal.game_json import games_json
from samedeal.games import GAMES
from samedeal.policies import Base, Build, Faces, Kind, Lift
from samedeal.solver.solve import solve
from samedeal.stock import STOCKS
from samedeal_client.board.board_lines import board_lines
from samedeal_client.board.column import takes_text
from samedeal_client.board.draw_board import draw_board
from samedeal_client.board.layout import FRAME_ROWS, Size, layout, smallest
from samedeal_client.board.mini_board import draw_mini, smallest_mini
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.panels.help import help_rows
from samedeal_client.text.appearance import Look
from samedeal_client.text.rules_text import rules_rows
from samedeal_client.text.spans import row_text, row_width
from tests.golden.golden_files import assert_sentences
from tests.shared.sixth_game import HAMLET
from tests.shared.unreleased_games import UNRELEASED

LOOKS = [Look(), Look(ascii=True), Look(words=True)]


def variant(name: str, stock: str = "draws of three", **rules: Any) -> Game:
    """Hamlet with another stock, or with other rules for its columns and fans."""
    policy = STOCKS[stock]
    kinds = {Kind.STOCK: policy.action is not None, Kind.WASTE: policy.to_waste}
    rows = [row for row in HAMLET.file.piles if kinds.get(row.kind, True)]
    if policy.action is None:
        rows = [structs.replace(row, cards="9 9 9 9 8") if row.kind is Kind.COLUMN else row for row in rows]
    changed = (structs.replace(row, **rules) if row.kind in (Kind.COLUMN, Kind.FAN) else row for row in rows)
    return Game(name.lower(), structs.replace(HAMLET.file, stock=stock, piles=tuple(changed)))


VARIANTS = [
    *(variant(f"base {base.name}", empty=base) for base in Base),
    *(variant(f"build {build.name}", build=build) for build in Build),
    *(variant(f"lift {lift.name}", lift=lift) for lift in Lift),
    *(variant(f"faces {faces.name}", faces=faces) for faces in Faces),
    *(variant(name, name) for name in STOCKS),
    *UNRELEASED.values(),
]


def boards(game: Game) -> Iterator[Board]:
    """A board without cards, a dealt one, and those that follow from random moves."""
    yield Board(game, (b"",) * len(game.piles))
    yield (board := Board.deal(game, shuffled(bytes(range(32)), game.decks)))
    rng = Random(5)
    for _ in range(12):
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
            picture = draw_board(board, Look(), layout(game, *size))
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
    assert (game.stock.instruction in text) == bool(game.stock.action)
    assert rules_rows(game, Look(), 80)


def described(rng: Random) -> str:
    """The file of a game with any policies, and with as many piles as a file may have, or more."""
    decks, stock = rng.choice((1, 1, 2)), rng.choice(list(STOCKS))
    columns, lines = rng.randint(3, 13), [f"decks = {decks}", f"suits = {rng.choice((1, 2, 4))}", f'stock = "{stock}"']
    names = "123456789tjqk"[:columns]
    letters = [each for each in "qwertyuiasdfghjk" if each not in names and (each != "w" or not STOCKS[stock].to_waste)]
    side, left = rng.choice((Kind.RESERVE, Kind.CELL)), 52 * decks

    def add(kind: Kind, keys: Sequence[str], sizes: Sequence[int] = (), **policies: str | None) -> None:
        lines.append(f'[[piles]]\nkind = "{kind}"\nkeys = "{" ".join(keys)}"\ncards = "{" ".join(map(str, sizes))}"')
        lines.extend(f'{name} = "{value}"' for name, value in policies.items() if value)

    def rules() -> dict[str, str | None]:
        bases = [base for base in Base if base is not Base.COMPLETE_SUIT]
        return {"build": rng.choice(list(Build)), "empty": rng.choice(bases)}

    fans = [letters.pop() for _ in range(rng.choice((0, 0, 2, 4, 6)))]
    singles = [letters.pop() for _ in range(rng.randint(0, min(9, len(letters))))]
    empty, build = rng.choice(list(FOUNDATIONS))
    count = FOUNDATIONS[empty, build] * decks
    aces = [rng.randint(0, 1) if empty is Base.ACE else 0] * count
    left -= 3 * len(fans) + len(singles) * (side is Kind.RESERVE) + sum(aces)
    dealt = [left // columns + (at < left % columns) for at in range(columns)]
    if STOCKS[stock].action:
        dealt = [min(size, rng.randint(1, 9)) for size in dealt]
    faces = rng.choice((Faces.UP, Faces.TOP_UP, Faces.FIVE_UP))
    add(Kind.COLUMN, names, dealt, faces=faces, lift=rng.choice((None, *Lift)), **rules())
    if fans:
        add(Kind.FAN, fans, [3] * len(fans), lift=rng.choice((None, *Lift)), **rules())
    if singles:
        add(side, singles, [int(side is Kind.RESERVE)] * len(singles), empty=Base.ANY if side is Kind.CELL else None)
    add(Kind.FOUNDATION, [f"0{number}" for number in range(1, count + 1)], aces, empty=empty, build=build)
    for kind, wanted in ((Kind.STOCK, STOCKS[stock].action), (Kind.WASTE, STOCKS[stock].to_waste)):
        if wanted:
            add(kind, ["stock" if kind is Kind.STOCK else "w"])
    return "\n".join(lines)


def test_every_accepted_description_is_played_on_the_smallest_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may offer whatever ``game_file`` accepts."""
    accepted = 0
    for seed in range(70):
        try:
            file = parse_game_file("house", described(Random(seed)))["house"]
        except MalformedGame:
            continue
        accepted += 1
        game = Game("house", file)
        monkeypatch.setitem(GAMES, "house", game)
        size = smallest(game)
        assert size.width <= 60, seed
        assert size.height + FRAME_ROWS <= 20, seed
        assert games_json([game])
        assert help_rows("house", DEFAULT, Look(), 60)
        for board in islice(boards(game), 1, 20):
            board.check()
            assert len(board.legal_moves()) < 300
            assert max(map(row_width, draw_board(board, Look(), layout(game, *size)).rows)) <= size.width, seed
            assert draw_mini(board, Look(), *smallest_mini(game))
        solve(board, 50)
    assert accepted > 20


def test_empty_column_says_what_it_takes() -> None:
    lines: list[str] = []
    for base in Base:
        board = next(boards(variant(f"base {base.name}", empty=base)))
        (words,) = (text for text in map(row_text, board_lines(board, Look())) if text.startswith("Column 1: "))
        lines.append(f"{base}\t{words}, drawn as {takes_text(board.game.piles[0], Look())!r}")
    assert_sentences("empty columns", lines)

"""A new game made of today's policies: the client draws it without any code for the game."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

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
from samedeal_client.board.layout import FRAME_ROWS, layout, smallest
from samedeal_client.board.mini_board import draw_mini, smallest_mini
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.panels.help import help_rows
from samedeal_client.text.appearance import Look
from samedeal_client.text.rules_text import rules_rows
from samedeal_client.text.spans import row_text, row_width
from tests.golden.golden_files import assert_sentences
from tests.shared.sixth_game import HAMLET


def described(rng: Random) -> str:
    """The file of a game with any policies, and with as many piles as a file may have, or more."""
    decks, stock = rng.choice((1, 1, 2)), rng.choice(list(STOCKS))
    columns, lines = rng.randint(3, 13), [f"decks = {decks}", f"suits = {rng.choice((1, 2, 4))}", f'stock = "{stock}"']
    names = "123456789tjqk"[:columns]
    letters = [each for each in "qwertyuiasdfghjk" if each not in names and (each != "w" or not STOCKS[stock].to_waste)]
    side, left = rng.choice((Kind.RESERVE, Kind.CELL)), 52 * decks

    def add(kind: Kind, keys: Sequence[str], sizes: Sequence[int] = (), **policies: str | list[int] | None) -> None:
        lines.append(f'[[piles]]\nkind = "{kind}"\nkeys = "{" ".join(keys)}"\ncards = "{" ".join(map(str, sizes))}"')
        texts = {name: f'"{value}"' if isinstance(value, str) else value for name, value in policies.items() if value}
        lines.extend(f"{name} = {text}" for name, text in texts.items())

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
    faces = rng.choice((Faces.UP, Faces.TOP_UP, Faces.FIVE_UP, [rng.randint(0, size - 1) for size in dealt]))
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
        assert rules_rows(game, Look(), 60)
        board = Board.deal(game, shuffled(bytes(range(32)), game.decks))
        moving = Random(5)
        for _ in range(13):
            board.check()
            legal = board.legal_moves()
            assert len(legal) < 300
            picture = draw_board(board, Look(), layout(game, *size))
            assert max(map(row_width, picture.rows)) <= size.width, seed
            assert {area.target.pile for region in picture.regions for area in region.hit_areas} == set(game.keys)
            assert draw_mini(board, Look(), *smallest_mini(game))
            assert len(board_lines(board, Look(words=True))) >= len(game.columns) + len(game.fans)
            board = board.play(moving.choice(legal)).board if legal else board
        solve(board, 50)
    assert accepted > 20


def test_empty_column_says_what_it_takes() -> None:
    lines: list[str] = []
    for base in Base:
        piles = (
            structs.replace(row, empty=base) if row.kind in (Kind.COLUMN, Kind.FAN) else row
            for row in HAMLET.file.piles
        )
        game = Game("hamlet", structs.replace(HAMLET.file, piles=tuple(piles)))
        board = Board(game, (b"",) * len(game.piles))
        (words,) = (text for text in map(row_text, board_lines(board, Look())) if text.startswith("Column 1: "))
        lines.append(f"{base}\t{words}, drawn as {takes_text(game.piles[0], Look())!r}")
    assert_sentences("empty columns", lines)
